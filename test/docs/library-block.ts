import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const src = fileURLToPath(new URL('../../src/', import.meta.url))
const read = (file: string): string => readFileSync(`${src}${file}`, 'utf8')

interface Exported {
  readonly name: string
  readonly kind: string
  /** What is said above its declaration. */
  readonly text: string
}

/** The part of docs/library.md that lists what is exported. An editor shows the rest of what is said, and the types. */
export function libraryBlock(): string {
  return exported()
    .filter(({ kind }) => kind !== 'interface' && kind !== 'type')
    .map(({ name, text }) => `- \`${name}\`: ${/^[^]*?[.](?= |$)/.exec(text)?.[0] ?? text}`)
    .join('\n')
}

/** What index.ts exports by name; of the events, which it exports all, the union of them. */
function exported(): readonly Exported[] {
  const found = [...read('index.ts').matchAll(/export (?:type )?(\{[^}]*\}|\*) from '\.\/([^']+)'/g)]
  return found.flatMap(([, names = '', file = '']) => {
    if (names === '*') return [described('RunEvent', 'RunEvent', file)]
    const each = names
      .slice(1, -1)
      .split(',')
      .map((part) => part.trim().replace(/^type /, ''))
      .filter(Boolean)
    return each.map((part) => {
      const [own = '', name = own] = part.split(' as ')
      return described(name, own, file)
    })
  })
}

/** The declaration under its own name in a file, and the sentence above it. */
function described(name: string, own: string, file: string): Exported {
  const pattern = new RegExp(
    `(?:/\\*\\*((?:(?!\\*/)[^])*)\\*/\\n)?export (?:async )?(function|const|class|interface|type) ${own}\\b`,
  )
  const [, comment = '', kind = ''] = pattern.exec(read(file)) ?? []
  const lines = comment.split('\n').map((line) => line.replace(/^ *\* ?/, '').trim())
  const text = lines.filter(Boolean).join(' ')
  if (kind === '' || text === '') throw new Error(`${name} is not declared in ${file}, or has no sentence`)
  return { name, kind, text }
}
