import { contentsOf } from './contents.ts'
import type { Git } from './git.ts'

/** The result of merging one commit onto another. */
export type Merged =
  | { readonly kind: 'merged'; readonly tree: string }
  | { readonly kind: 'conflict'; readonly paths: readonly string[]; readonly hunks: string }

/** Merges a commit onto a tip without a work tree: the tree, or what conflicts. */
export async function mergeTrees(git: Git, tip: string, commit: string): Promise<Merged> {
  const args = ['merge-tree', '--write-tree', '-z', '--messages', '--allow-unrelated-histories', tip, commit]
  const { code, stdout } = await git.run(args, { okCodes: [0, 1] })
  const [tree = '', ...records] = stdout.toString().split('\0')
  if (code === 0) return { kind: 'merged', tree }
  const paths = new Set<string>()
  for (const record of records) {
    if (record === '') break
    paths.add(record.slice(record.indexOf('\t') + 1))
  }
  return {
    kind: 'conflict',
    paths: [...paths],
    hunks: await hunksOf(git, tree, { paths: [...paths], tip, commit }),
  }
}

/** The most to show an agent. */
const MOST = { files: 10, lines: 60 }
const AROUND = 3

/** The conflicts in these files, with merge markers. */
async function hunksOf(
  git: Git,
  tree: string,
  { paths, tip, commit }: { paths: readonly string[]; tip: string; commit: string },
): Promise<string> {
  const shown = paths.slice(0, MOST.files)
  const contents = await contentsOf(
    git,
    shown.map((path) => `${tree}:${path}`),
  )
  const parts = shown.flatMap((path) => {
    const bytes = contents.get(`${tree}:${path}`)
    const text = bytes === undefined || bytes.includes(0) ? '' : marked(bytes.toString())
    if (text === '') return [`${path}: one has removed, moved or replaced what the other has changed`]
    return [
      `${path}:\n${text.replaceAll(`<<<<<<< ${tip}`, '<<<<<<< what has landed').replaceAll(`>>>>>>> ${commit}`, '>>>>>>> the attempt')}`,
    ]
  })
  const more = paths.length - shown.length
  return [...parts, ...(more > 0 ? [`and ${more} more files`] : [])].join('\n\n')
}

/** The lines with merge markers, and some around them. */
function marked(text: string): string {
  const lines = text.split('\n')
  const near = new Set<number>()
  let isInside = false
  for (const [at, line] of lines.entries()) {
    const isMark = /^(?:<{7}|={7}|>{7})(?: |$)/.test(line)
    if (line.startsWith('<<<<<<< ')) isInside = true
    if (isInside || isMark) for (let around = at - AROUND; around <= at + AROUND; around++) near.add(around)
    if (line.startsWith('>>>>>>> ')) isInside = false
  }
  const shown = lines.flatMap((line, at) =>
    near.has(at) ? [near.has(at - 1) || at === 0 ? line : `…\n${line}`] : [],
  )
  return shown.length > MOST.lines ? [...shown.slice(0, MOST.lines), '…'].join('\n') : shown.join('\n')
}
