import { safeNotes, titleMarkdown } from '../../backlog/notes.ts'
import { readDiscipline, type Discipline } from '../../prompt/discipline.ts'
import { readFeature } from '../../prompt/feature.ts'
import type { Entry } from './source.ts'

type Kind = 'discipline' | 'feature'

/** One document for each discipline or feature, in the format of `docs/`. */
export function documentsIn(entries: readonly Entry[], kind: Kind): readonly (readonly [string, string])[] {
  return entries.flatMap((entry): readonly (readonly [string, string])[] => {
    const name = entry.text('name')
    if (/^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u.test(name)) {
      const text = kind === 'discipline' ? disciplineText(entry, name) : featureText(entry, name)
      return [[`docs/${kind}s/${name}.md`, text]]
    }
    entry.report('name', `a ${kind} needs a name that can be one of a file, not "${name}"`)
    return []
  })
}

function disciplineText(entry: Entry, name: string): string {
  const conventions = entry.value('conventions')
  const servers = entry.entries('mcp_servers')
  const rules =
    conventions?.kind === 'list'
      ? entry.texts('conventions').map((line) => `- ${line}`)
      : [entry.text('conventions')]
  return documentText(entry.text('display_name') || name, {
    fields: [
      ['Skills', entry.texts('skills').join(', ')],
      ['Icon', entry.text('icon')],
      ['Color', entry.text('color')],
      ['Acronym', entry.text('acronym')],
    ],
    sections: [
      ['Persona', entry.text('system_prompt')],
      ['Conventions', rules.join('\n')],
      ['MCP Servers', servers.length === 0 ? '' : serversText(servers)],
    ],
  })
}

function serversText(servers: readonly Entry[]): string {
  const named = servers.map((server) => {
    const env = server.value('env')
    const pairs = env?.kind === 'table' ? [...env.entries] : []
    const texts = pairs.map(([key, value]) => [key, value.kind === 'scalar' ? value.text : ''])
    const { command, args } = { command: server.text('command'), args: server.texts('args') }
    return [server.text('name'), { command, args, env: Object.fromEntries(texts) as Record<string, string> }]
  })
  return `\`\`\`json\n${JSON.stringify(Object.fromEntries(named), null, 2)}\n\`\`\``
}

function featureText(entry: Entry, name: string): string {
  return documentText(entry.text('display_name') || name, {
    fields: [
      ['Knowledge', entry.texts('knowledge_paths').map(asCode).join(', ')],
      ['Context', entry.texts('context_files').map(asCode).join(', ')],
      ['Acronym', entry.text('acronym')],
      ['Created', entry.text('created')],
    ],
    sections: [['Description', entry.text('description')]],
  })
}

function asCode(path: string): string {
  return `\`${path.replaceAll('`', '')}\``
}

interface DocumentParts {
  readonly fields: readonly (readonly [string, string])[]
  readonly sections: readonly (readonly [string, string])[]
}

function documentText(title: string, { fields, sections }: DocumentParts): string {
  const heads = fields.flatMap(([key, value]) => {
    const text = value.replace(/\s+/g, ' ').trim()
    return text === '' ? [] : [`- **${key}**: ${text}`]
  })
  const bodies = sections.flatMap(([heading, body]) =>
    body.trim() === '' ? [] : [`## ${heading}\n\n${safeNotes(body)}`],
  )
  return `${[`# ${titleMarkdown(title)}`, heads.join('\n'), ...bodies].filter(Boolean).join('\n\n')}\n`
}

/** A document's file: its name without folder and ending, and its text. */
export interface NamedText {
  readonly name: string
  readonly text: string
}

/** Disciplines as the format's objects. */
export async function disciplineRows(files: readonly NamedText[]): Promise<readonly object[]> {
  return Promise.all(
    files.map(async ({ name, text }) => {
      const { title, acronym, icon, color, persona, skills, conventions, mcpServers } = await readDiscipline(
        name,
        text,
      )
      return {
        name,
        display_name: title,
        acronym,
        icon,
        color,
        system_prompt: persona,
        skills,
        conventions,
        mcp_servers: serverRows(mcpServers),
      }
    }),
  )
}

function serverRows(servers: Discipline['mcpServers']): readonly object[] {
  return Object.entries(servers).map(([name, { command, args, env }]) => {
    return { name, command, args, env: Object.keys(env).length === 0 ? null : env }
  })
}

/** Features as the format's objects. */
export async function featureRows(files: readonly NamedText[]): Promise<readonly object[]> {
  return Promise.all(
    files.map(async ({ name, text }) => {
      const { title, acronym, description, knowledge, context } = await readFeature(name, text)
      const created = /^- \*\*Created\*\*: (.*)$/m.exec(text)?.[1] ?? null
      return {
        name,
        display_name: title,
        acronym,
        description,
        created,
        knowledge_paths: knowledge,
        context_files: context,
      }
    }),
  )
}
