;;; What a person does in Emacs with derivatives.yaml open, and what comes back, as JSON in the file that OUT names.
;;; It is loaded behind the configuration; the file has an entry of mv with `slef:' in place of `self:'.
(require 'eglot)
(require 'flymake)
(require 'json)

(defun driver-wait (what found)
  "Wait until FOUND gives something; an error that names WHAT if that never is so."
  (let ((end (+ (float-time) 60)))
    (while (not (funcall found))
      (when (> (float-time) end) (error "never came: %s" what))
      (accept-process-output nil 0.05))))

(defun driver-ask (method start inner)
  "The answer to METHOD at the text INNER of the first line with START."
  (goto-char (point-min))
  (search-forward start)
  (beginning-of-line)
  (search-forward inner (line-end-position))
  (goto-char (match-beginning 0))
  (jsonrpc-request (eglot-current-server) method (eglot--TextDocumentPositionParams)))

(defun driver-shown ()
  "The diagnostics of the buffer."
  (flymake-start)
  (flymake-diagnostics))

(defun driver-session (file)
  (find-file file)
  (yaml-mode)
  (let ((eglot-sync-connect 60)) (apply #'eglot--connect (eglot--guess-contact)))
  (driver-wait "a diagnostic" #'driver-shown)
  (let ((shown (mapcar (lambda (each)
                         (list :line (line-number-at-pos (flymake-diagnostic-beg each))
                               :message (flymake-diagnostic-text each)))
                       (driver-shown))))
    (goto-char (point-min))
    (search-forward "slef:")
    (replace-match "self:")
    (eglot--signal-textDocument/didChange)
    (driver-wait "the diagnostic to go" (lambda () (not (driver-shown))))
    (list :shown (vconcat shown)
          :hover (driver-ask :textDocument/hover "- name: mv(" "mv(")
          :definition (driver-ask :textDocument/definition "- name: mv(" "mv(")
          :completion (driver-ask :textDocument/completion "self: grad.unsqueeze" "grad."))))

(let ((found (condition-case problem (driver-session (getenv "SPECS"))
               (error (list :error (format "%S" problem))))))
  (with-temp-file (getenv "OUT") (insert (json-serialize found :false-object :json-false :null-object nil)))
  (set-buffer-modified-p nil)
  (kill-emacs))
