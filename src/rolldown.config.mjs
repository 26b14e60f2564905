import { createHash } from 'node:crypto'
import path from 'node:path'
import { defineConfig } from 'rolldown'
import { parseAst } from 'rolldown/parseAst'

/** Brings a binary for each system: it is installed beside ralph, or is not there. */
const external = [/^@lydell\/node-pty/]

/** The MCP package looks up with it what differs between platforms. */
const alias = { '@modelcontextprotocol/server/_shims': path.join(import.meta.dirname, 'cli/mcp/shims.ts') }

/**
 * Writes the program's parts as start.ts loads them: in ASCII, which the engine reads fastest, below a line that tells
 * one build from another; and where they import a module of a package, by the function that they are given for it.
 */
const parts = {
  name: 'parts',
  generateBundle(_, bundle) {
    for (const part of Object.values(bundle)) {
      const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
      const code = withImports(part.code).replace(/[^\0-\x7f]/g, escaped)
      const build = createHash('sha256').update(code).digest('hex').slice(0, 17)
      part.code = `//${build}\n${code}`
    }
  },
}

/** Kept code cannot import by itself: Node 20 then says that a callback is missing. */
function withImports(code) {
  let text = code
  const starts = code.includes('import(') ? importsIn(parseAst(code)) : []
  for (const start of starts.toSorted((a, b) => b - a)) {
    text = `${text.slice(0, start)}importModule${text.slice(start + 'import'.length)}`
  }
  return text
}

function importsIn(node) {
  if (typeof node !== 'object' || node === null) return []
  const own = node.type === 'ImportExpression' ? [node.start] : []
  return [...own, ...Object.values(node).flatMap(importsIn)]
}

/** What the package is made of: the library, the program, the maker of the JSON Schemas, the seal's worker, and what runs in a cage. */
export default defineConfig([
  {
    input: 'src/index.ts',
    platform: 'node',
    external,
    output: { dir: 'dist', format: 'esm', minify: true, sourcemap: true },
  },
  {
    input: 'src/start.ts',
    platform: 'node',
    output: { file: 'dist/bin.cjs', format: 'cjs', minify: true },
  },
  {
    input: { main: 'src/bin.ts' },
    platform: 'node',
    external,
    resolve: { alias },
    plugins: [parts],
    output: {
      dir: 'dist/program',
      // An empty ES module takes as long to start as all that a short command does.
      format: 'cjs',
      minify: true,
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name].cjs',
      codeSplitting: {
        groups: [
          { name: 'main', tags: ['$initial'], priority: 2 },
          // Each file costs its start-up, so what `ralph next` needs is one; the other commands share it.
          { name: 'next', test: /commands[\\/]next\.ts$/, priority: 1 },
          // And what reads a task whole is another.
          { name: 'parse', test: /backlog[\\/]parse\.ts$/ },
        ],
      },
    },
  },
  {
    input: 'src/git/seal/seal-worker.ts',
    platform: 'node',
    output: { file: 'dist/seal-worker.cjs', format: 'cjs', minify: true },
  },
  {
    input: 'src/process/cage/inside.ts',
    platform: 'node',
    output: { file: 'dist/cage-inside.cjs', format: 'cjs', minify: true },
  },
  {
    input: 'src/cli/json-schemas.ts',
    platform: 'node',
    output: { file: 'node_modules/.cache/ralph/json-schema.cjs', format: 'cjs', codeSplitting: false },
  },
])
