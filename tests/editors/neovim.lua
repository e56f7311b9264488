-- What a person does in Neovim with derivatives.yaml open, and what comes back, as JSON in the file that OUT names.
-- It is loaded behind the configuration; the file has an entry of mv with `slef:` in place of `self:`.

local PATIENCE = 60000 -- milliseconds

local function wait_for(what, found)
  if not vim.wait(PATIENCE, found, 20) then error("never came: " .. what) end
end

local function clients()
  return (vim.lsp.get_clients or vim.lsp.get_active_clients)()
end

-- The place, counted from 0, of the first line that has a text, and of another text in that line.
local function place(start, inner)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    if line:find(start, 1, true) then
      return { line = number - 1, character = line:find(inner, 1, true) - 1 }
    end
  end
  error("no line has " .. start)
end

local function ask(method, position)
  local given = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = position }
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, given, PATIENCE) or {}) do
    if answer.result then return answer.result end
  end
  error("no answer: " .. method)
end

local function session()
  wait_for("a client", function() return #clients() > 0 and clients()[1].server_capabilities ~= nil end)
  wait_for("a diagnostic", function() return #vim.diagnostic.get(0) > 0 end)
  local shown = {}
  for _, each in ipairs(vim.diagnostic.get(0)) do
    table.insert(shown, { line = each.lnum + 1, message = each.message })
  end
  local number = place("slef:", "slef").line
  vim.api.nvim_buf_set_text(0, number, 2, number, 6, { "self" })
  wait_for("the diagnostic to go", function() return #vim.diagnostic.get(0) == 0 end)
  return {
    clients = #clients(),
    shown = shown,
    hover = ask("textDocument/hover", place("- name: mv(", "mv(")),
    definition = ask("textDocument/definition", place("- name: mv(", "mv(")),
    completion = ask("textDocument/completion", place("self: grad.unsqueeze", "grad.")),
  }
end

local ok, found = pcall(session)
vim.fn.writefile({ vim.fn.json_encode(ok and found or { error = found }) }, vim.env.OUT)
vim.cmd("qa!")
