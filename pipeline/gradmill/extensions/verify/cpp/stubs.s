// The number of hidden functions, and their addresses within libtorch, to which the process adds where that is; and for
// each function one of its name that jumps there, by machine. families/sections.py explains the notation.
//// stubs
  .section .note.GNU-stack,"",%progbits
  .data
  .balign 8
  .globl gradmill_hidden
gradmill_hidden:
  .quad ${count}
gradmill_table:
  .quad ${addresses}
  .text
${jumps}
//// x86_64
  .globl ${name}
  .hidden ${name}
${name}:
  jmp *gradmill_table+${place}(%rip)
//// aarch64
  .globl ${name}
  .hidden ${name}
${name}:
  adrp x16, gradmill_table+${place}
  ldr x16, [x16, :lo12:gradmill_table+${place}]
  br x16
