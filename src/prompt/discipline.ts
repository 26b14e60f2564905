import { splitList } from '../backlog/values.ts'
import { wordMap, type Vocabulary } from '../backlog/vocabulary.ts'
import { readDocument, type DocumentProblem } from './document.ts'
import { readMcpServers } from './mcp.ts'

/** Working instructions from one file of `docs/disciplines`. */
export type Discipline = Awaited<ReturnType<typeof readDiscipline>>

/** Reads the text of a discipline's file. */
export async function readDiscipline(name: string, source: string) {
  const document = await readDocument(name, source, VOCABULARY)
  const mcpAt = document.startOf('MCP Servers')
  const mcp = mcpAt === null ? { servers: {}, problems: [] } : readMcpServers(document.body('MCP Servers'))
  const mcpProblems = mcp.problems.map((message): DocumentProblem => ({
    severity: 'error',
    offset: mcpAt ?? 0,
    message,
  }))
  const agent = document.field('Agent')
  return {
    // The file's name without its ending, as in tasks.
    name,
    title: document.title,
    skills: splitList(document.field('Skills') ?? ''),
    agent,
    model: document.field('Model'),
    icon: document.field('Icon'),
    color: document.field('Color'),
    acronym: document.field('Acronym'),
    persona: document.body('Persona'),
    // With all other text of the author.
    conventions: [document.body('Conventions'), document.rest].filter((text) => text !== '').join('\n\n'),
    mcpServers: mcp.servers,
    mentions: document.mentions('agent', 'Agent', agent === null ? [] : [agent]),
    problems: [...document.problems, ...mcpProblems],
  }
}

const FIELDS = ['Skills', 'Agent', 'Model', 'Icon', 'Color', 'Acronym'] as const
const SECTIONS = ['Persona', 'Conventions', 'MCP Servers'] as const

const VOCABULARY: Vocabulary<(typeof FIELDS)[number], (typeof SECTIONS)[number]> = {
  fields: wordMap(FIELDS, { Skills: ['Skill'], Color: ['Colour'] }),
  sections: wordMap(SECTIONS, { Conventions: ['Convention'], 'MCP Servers': ['MCP', 'MCP Server'] }),
  fieldSections: new Set(),
  lists: new Set(),
}
