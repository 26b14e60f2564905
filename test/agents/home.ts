import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { makeFolder } from '../repository.ts'
import type { AgentName } from './installed.ts'

type Env = Record<string, string>

/** Nothing that an agent says may leave the machine: a proxy that is not there, for all but loopback. */
const OFFLINE: Env = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
  DO_NOT_TRACK: '1',
}

/** A home that nobody has used. */
export function makeHome(): string {
  const home = makeFolder()
  mkdirSync(path.join(home, '.config'))
  return home
}

/** The environment in which an agent finds a fresh home, dummy keys and the fake service, and nothing of ours. */
export function environment(name: AgentName, url: string, home: string, programs: string): Env {
  const author = { GIT_AUTHOR_NAME: 'agent', GIT_AUTHOR_EMAIL: 'agent@example.com' }
  const committer = { GIT_COMMITTER_NAME: 'agent', GIT_COMMITTER_EMAIL: 'agent@example.com' }
  return {
    PATH: `${programs}${path.delimiter}${process.env['PATH'] ?? ''}`,
    HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    ...author,
    ...committer,
    ...OFFLINE,
    ...SERVICE[name](url, (file, content) => {
      const target = path.join(home, file)
      mkdirSync(path.dirname(target), { recursive: true })
      writeFileSync(target, content)
      return target
    }),
  }
}

/** How each agent is told of another service than its own. */
const SERVICE: Record<AgentName, (url: string, write: (file: string, content: string) => string) => Env> = {
  claude: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'dummy',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  codex: (url, write) => {
    const service = `name = "fake"\nbase_url = "${url}/v1"\nenv_key = "FAKE_KEY"\nwire_api = "responses"\n`
    const settings = 'model = "fake-model"\nmodel_provider = "fake"\nanalytics.enabled = false\n'
    write('.codex/config.toml', `${settings}[model_providers.fake]\n${service}`)
    return { FAKE_KEY: 'dummy' }
  },
  gemini: (url, write) => {
    const security = { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: true } }
    write('.gemini/settings.json', JSON.stringify({ security }))
    return { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'dummy' }
  },
  opencode: (url, write) => {
    const models = { 'fake-model': { name: 'fake-model', cost: { input: 1, output: 2 } } }
    const options = { baseURL: `${url}/v1`, apiKey: 'dummy' }
    const provider = { fake: { npm: '@ai-sdk/openai-compatible', name: 'fake', options, models } }
    const file = write('opencode.json', JSON.stringify({ model: 'fake/fake-model', provider }))
    return { OPENCODE_CONFIG: file, OPENCODE_DISABLE_MODELS_FETCH: '1' }
  },
  copilot: (url) => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: 'dummy',
    COPILOT_MODEL: 'fake-model',
  }),
  qwen: (url, write) => {
    const security = { auth: { selectedType: 'openai' }, folderTrust: { enabled: true } }
    write('.qwen/settings.json', JSON.stringify({ security }))
    return { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'dummy', OPENAI_MODEL: 'fake-model' }
  },
  continue: (url, write) => {
    const model = `  - name: fake\n    provider: openai\n    model: fake-model\n    apiKey: dummy\n    apiBase: ${url}/v1\n`
    write(
      '.continue/config.yaml',
      `name: test\nversion: 0.0.1\nschema: v1\nmodels:\n${model}    roles: [chat]\n`,
    )
    return { CONTINUE_TELEMETRY_ENABLED: '0' }
  },
}
