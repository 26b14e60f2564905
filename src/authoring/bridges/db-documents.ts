import { safeNotes, titleMarkdown } from '../../backlog/notes.ts'
import { readDiscipline } from '../../prompt/discipline.ts'
import { readFeature } from '../../prompt/feature.ts'
import type { Entry } from './source.ts'

/** A discipline as a document in the format of `docs/disciplines`. */
export function disciplineText(entry: Entry): string {
  const conventions = entry.value('conventions')
  const rules = entry.texts('conventions').map((line) => `- ${line}`)
  const servers = entry.entries('mcp_servers')
  return documentText(entry, {
    fields: {
      Skills: entry.texts('skills').join(', '),
      Icon: entry.text('icon'),
      Color: entry.text('color'),
      Acronym: entry.text('acronym'),
    },
    sections: {
      Persona: entry.text('system_prompt'),
      Conventions: conventions?.kind === 'list' ? rules.join('\n') : entry.text('conventions'),
      'MCP Servers': servers.length === 0 ? '' : serversText(servers),
    },
  })
}

function serversText(servers: readonly Entry[]): string {
  const named = servers.map((server) => {
    const env = server.value('env')
    const pairs = env?.kind === 'table' ? [...env.entries] : []
    const texts = pairs.map(([key, value]) => [key, value.kind === 'scalar' ? value.text : ''])
    const [command, args] = [server.text('command'), server.texts('args')]
    return [server.text('name'), { command, args, env: Object.fromEntries(texts) as object }]
  })
  return `\`\`\`json\n${JSON.stringify(Object.fromEntries(named), null, 2)}\n\`\`\``
}

/** A feature as a document in the format of `docs/features`. */
export function featureText(entry: Entry): string {
  const paths = (name: string): string =>
    entry
      .texts(name)
      .map((path) => `\`${path.replaceAll('`', '')}\``)
      .join(', ')
  return documentText(entry, {
    fields: {
      Knowledge: paths('knowledge_paths'),
      Context: paths('context_files'),
      Acronym: entry.text('acronym'),
      Created: entry.text('created'),
    },
    sections: { Description: entry.text('description') },
  })
}

function documentText(
  entry: Entry,
  { fields, sections }: { fields: Record<string, string>; sections: Record<string, string> },
): string {
  const heads = Object.entries(fields).flatMap(([key, value]) => {
    const text = value.replace(/\s+/g, ' ').trim()
    return text === '' ? [] : [`- **${key}**: ${text}`]
  })
  const bodies = Object.entries(sections).flatMap(([heading, body]) =>
    body.trim() === '' ? [] : [`## ${heading}\n\n${safeNotes(body)}`],
  )
  const title = `# ${titleMarkdown(entry.text('display_name', 'name'))}`
  return `${[title, heads.join('\n'), ...bodies].filter(Boolean).join('\n\n')}\n`
}

/** A discipline's file as the format's object. */
export async function disciplineRow(name: string, text: string): Promise<object> {
  const { title, acronym, icon, color, persona, skills, conventions, mcpServers } = await readDiscipline(
    name,
    text,
  )
  const servers = Object.entries(mcpServers).map(([server, { command, args, env }]) => {
    return { name: server, command, args, env: Object.keys(env).length === 0 ? null : env }
  })
  return {
    name,
    display_name: title,
    acronym,
    icon,
    color,
    system_prompt: persona,
    skills,
    conventions,
    mcp_servers: servers,
  }
}

/** A feature's file as the format's object. */
export async function featureRow(name: string, text: string): Promise<object> {
  const { title, acronym, description, knowledge, context } = await readFeature(name, text)
  return {
    name,
    display_name: title,
    acronym,
    description,
    created: /^- \*\*Created\*\*: (.*)$/m.exec(text)?.[1],
    knowledge_paths: knowledge,
    context_files: context,
  }
}
