import type { Task } from '../backlog/model.ts'
import type { PromptInput, PromptGate } from './assemble.ts'
import { collectMaterials } from './collect.ts'
import { headingsOf } from '../backlog/markdown/reading.ts'
import type { EarlierAttempt } from './history.ts'
import { findDiscipline, findFeature, PLANS, PRD, REQUIREMENTS, readOwn, RULES, TEMPLATE } from './library.ts'
import { locate, readText, type Surroundings, type Material } from './files.ts'
import { inOrder } from '../backlog/order.ts'
import { mergeMcpServers, type McpServers } from './mcp.ts'
import { sectionsNamed } from './prd.ts'
import type { PromptLimits } from './show.ts'
import { parseTemplate } from './template.ts'

/** The task of a prompt, and where to find its input. */
export interface GatherRequest extends Surroundings {
  readonly task: Task
  readonly backlog: readonly Task[]
  readonly attempts: readonly EarlierAttempt[]
  /** The number of the attempt whose files the agent finds; null if it finds those of the branch. */
  readonly continues: number | null
  /** Whether the agent gets ralph's tools. */
  readonly hasTools: boolean
  readonly gates: readonly PromptGate[]
  readonly limits: PromptLimits
  /** Whether the feature's documents are listed, for the agent to read. */
  readonly onDemand: boolean
  /** The folder of plans; `docs/plans` by default. */
  readonly plans?: string
  /** The configuration's servers for all tasks. */
  readonly mcpServers: McpServers
}

/** The input of a task's prompt, and what the agent gets beside it. */
export interface Gathered {
  readonly input: PromptInput
  /** Those of the configuration and of the discipline, merged. */
  readonly mcpServers: McpServers
  /** One sentence for each named thing that is missing or unreadable. */
  readonly warnings: readonly string[]
}

/** Reads the input of a task's prompt, from the request and the project's files alone. */
export async function gatherPrompt(request: GatherRequest): Promise<Gathered> {
  const { root, task, attempts, continues, hasTools, gates, limits, onDemand } = request
  const [discipline, feature, rules, template, prd] = await Promise.all([
    findDiscipline(root, task.discipline),
    findFeature(root, task.feature),
    readOwn(root, RULES),
    readOwn(root, TEMPLATE),
    requirementMaterials(request, task.prdReference),
  ])
  const [knowledge = [], files = []] = await collectMaterials(
    request,
    [feature.value?.knowledge ?? [], [...task.touches, ...task.context, ...(feature.value?.context ?? [])]],
    // A token is rarely more than a few bytes, so more would not fit.
    { except: [task.file], room: limits.budget * 8 },
  )
  const input: PromptInput = {
    task,
    discipline: discipline.value,
    feature: feature.value,
    rules,
    knowledge,
    prd,
    files,
    ...relatedTasks(task, request.backlog),
    attempts,
    continues,
    hasTools,
    gates,
    template: template === null ? null : parseTemplate(template, TEMPLATE),
    limits,
    onDemand,
  }
  return {
    input,
    mcpServers: mergeMcpServers(request.mcpServers, discipline.value?.mcpServers ?? {}),
    warnings: [...discipline.warnings, ...feature.warnings],
  }
}

/** The named sections: of the project's requirements, and of those of plans. */
async function requirementMaterials(
  { root, plans = PLANS }: Pick<GatherRequest, 'root' | 'plans'>,
  references: readonly string[],
): Promise<readonly Material[]> {
  const ofDocuments = new Map<string, string[]>()
  for (const reference of references) {
    const [, slug, section] = /^([^\s§]+) (§.*)$/.exec(reference) ?? []
    const file = `${plans}/${slug}/${REQUIREMENTS}`
    const isPlans = section !== undefined && (await locate(root, file)).kind === 'file'
    // Without the name of a plan it is part of a heading, with a number.
    const [document, wanted] = isPlans
      ? [file, [section]]
      : [PRD, section === undefined ? [reference] : [slug!, section]]
    ofDocuments.set(document, [...(ofDocuments.get(document) ?? []), ...wanted])
  }
  const found: Material[] = []
  for (const [file, wanted] of ofDocuments) found.push(...(await sectionMaterials(root, file, wanted)))
  return found
}

async function sectionMaterials(
  root: string,
  file: string,
  references: readonly string[],
): Promise<readonly Material[]> {
  const read = await readText(await locate(root, file))
  if (read.kind === 'named') return [read]
  const sections = sectionsNamed(read.text, await headingsOf(read.text), references)
  return sections.map(({ reference, text }) =>
    text === null
      ? { kind: 'named', path: `${file} ${reference}`, reason: 'no-section', bytes: null }
      : { ...read, stretch: reference, text },
  )
}

/** The tasks of a backlog that a task's prompt mentions; the order of the backlog does not matter. */
function relatedTasks(
  task: Task,
  backlog: readonly Task[],
): Pick<PromptInput, 'prerequisites' | 'milestone'> {
  const all = inOrder(backlog)
  const wanted = [...new Set(task.depends.map((dependency) => dependency.number))]
  return {
    prerequisites: wanted.flatMap(
      (number) => all.find((other) => other.number === number && other.status === 'DONE') ?? [],
    ),
    milestone: task.milestone === null ? [] : all.filter((other) => other.milestone === task.milestone),
  }
}
