// Compiles the kernel to dist/seal.wasm, unless that is newer than all it is made from: the compiler takes seconds.
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { argv, exit, stderr } from 'node:process'

const folder = new URL('./', import.meta.url)
const target = argv[2] ?? 'dist/seal.wasm'
const built = statSync(target, { throwIfNoEntry: false })?.mtimeMs ?? 0
const changed = readdirSync(folder).some((name) => statSync(new URL(name, folder)).mtimeMs > built)

if (changed) {
  const { main } = await import('assemblyscript/asc')
  mkdirSync('dist', { recursive: true })
  const entry = fileURLToPath(new URL('kernel.ts', folder))
  const flags = ['-O3', '--enable', 'simd', '--runtime', 'stub', '--noAssert', '--initialMemory', '4']
  const { error } = await main([entry, '-o', target, ...flags, '--disableWarning', '112'], { stderr })
  if (error) exit(1)
}
