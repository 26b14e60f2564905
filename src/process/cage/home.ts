import { namesIn } from '../../base/folder.ts'
import { readlinkSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { Environment } from '../mark.ts'
import { isInside, isLink, outermost, real, type MountRule } from './mounts.ts'

/** What a cage shows of a home, relative to it: the homes of tools, and git's settings. */
const SHOWN = [
  '.gitconfig',
  '.config/git',
  '.gitignore',
  '.gitignore_global',
  '.gitattributes',
  '.tool-versions',
  '.asdfrc',
  '.nvmrc',
  '.editorconfig',
  '.nvm',
  '.fnm',
  '.local/share/fnm',
  '.volta',
  '.bun',
  '.deno',
  '.local/share/pnpm',
  '.npm-global',
  '.config/yarn/global',
  '.pyenv',
  '.rye',
  '.local/bin',
  '.local/lib',
  '.local/share/uv',
  '.local/share/pipx',
  '.local/share/pypoetry',
  '.local/share/virtualenvs',
  '.cache/pypoetry/virtualenvs',
  'miniconda3',
  'anaconda3',
  'miniforge3',
  '.rustup',
  '.cargo',
  'go',
  '.rbenv',
  '.rvm',
  '.gem',
  '.bundle',
  '.local/share/gem',
  '.composer',
  '.config/composer',
  '.sdkman',
  '.jenv',
  '.jdks',
  '.m2',
  '.gradle',
  '.sbt',
  '.ivy2',
  '.cache/coursier',
  'Android/Sdk',
  '.dotnet',
  '.nuget/packages',
  '.ghcup',
  '.cabal',
  '.stack',
  '.opam',
  '.elan',
  '.juliaup',
  '.mix',
  '.hex',
  '.pub-cache',
  '.local/share/mise',
  '.config/mise',
  '.asdf',
  '.nix-profile',
  '.local/state/nix',
  '.linuxbrew',
  '.cache/ms-playwright',
  '.cache/puppeteer',
  '.cache/Cypress',
  '.cache/node/corepack',
  '.cache/pre-commit',
]

/** Variables with the folders of tools. */
const TOOL_VARIABLES = [
  'ANDROID_HOME',
  'ANDROID_SDK_ROOT',
  'ASDF_DATA_DIR',
  'ASDF_DIR',
  'BUN_INSTALL',
  'CARGO_HOME',
  'COMPOSER_HOME',
  'COREPACK_HOME',
  'CONDA_PREFIX',
  'DENO_INSTALL',
  'DOTNET_ROOT',
  'FNM_DIR',
  'FNM_MULTISHELL_PATH',
  'GEM_HOME',
  'GEM_PATH',
  'GOMODCACHE',
  'GOPATH',
  'GOROOT',
  'GRADLE_HOME',
  'GRADLE_USER_HOME',
  'JAVA_HOME',
  'M2_HOME',
  'MAVEN_HOME',
  'MISE_DATA_DIR',
  'NODE_EXTRA_CA_CERTS',
  'NVM_DIR',
  'PLAYWRIGHT_BROWSERS_PATH',
  'PNPM_HOME',
  'PRE_COMMIT_HOME',
  'PYENV_ROOT',
  'RBENV_ROOT',
  'REQUESTS_CA_BUNDLE',
  'RUSTUP_HOME',
  'SDKMAN_DIR',
  'SSL_CERT_FILE',
  'UV_PYTHON_INSTALL_DIR',
  'VIRTUAL_ENV',
  'VOLTA_HOME',
]

/** Folders of a home that hold many tools: only parts of them are opened. */
const SHARED = ['.local', '.local/share', '.config', '.cache', '.local/state']
const MOST_LINKS = 500

/**
 * The rules for a home: closed but for the tools that PATH and variables lead to, those that are well known, git's settings,
 * and what is opened: paths, and folders of programs with the tools that they belong to. A home that is the root of all
 * files stays as it is.
 */
export function homeRules(
  home: string,
  env: Environment,
  opened: { paths: readonly string[]; folders: readonly string[] },
): readonly MountRule[] {
  const at = real(home)
  if (at === null || at === '/') return []
  const isIn = (path: string): boolean =>
    [at, home].some((folder) => path !== folder && isInside(path, folder))
  const listIn = (variable: string): readonly string[] => (env[variable] ?? '').split(':')
  const folders = [...opened.folders, ...listIn('PATH')].flatMap((folder) => toolOf(folder, at))
  const programs = [join(at, '.local/bin'), ...folders].filter(isIn)
  const all = [
    ...SHOWN.map((name) => join(at, name)),
    ...TOOL_VARIABLES.flatMap(listIn),
    ...opened.paths,
    ...folders,
    ...programs.flatMap((folder) => linkedFrom(folder, at)),
  ]
  const inside = all.filter((path) => isAbsolute(path)).map((path) => resolve(path))
  // Tools that find no place for their caches there give up.
  const caches: MountRule = { kind: 'own', path: join(at, '.cache') }
  return [{ kind: 'closed', path: at }, caches, ...outermost(inside.filter(isIn)).flatMap(shownRules)]
}

/** What a folder of PATH belongs to: `~/.cargo/bin` to `~/.cargo`, and `~/bin` to itself. */
function toolOf(folder: string, home: string): readonly string[] {
  const path = real(folder)
  if (path === null || !isInside(path, home)) return [folder]
  const above = dirname(path)
  const isShared = above === home || SHARED.some((name) => above === join(home, name))
  return /^s?bin$/.test(basename(path)) && !isShared ? [folder, above] : [folder, path]
}

/** What the links in a folder of programs lead to. */
function linkedFrom(folder: string, home: string): readonly string[] {
  const paths = namesIn(folder)
    .slice(0, MOST_LINKS)
    .map((name) => join(folder, name))
  const targets = paths.flatMap((path) => (isLink(path) ? (real(path) ?? []) : []))
  return targets.filter((target) => isInside(target, home)).flatMap((target) => toolOf(dirname(target), home))
}

/** A link is there as such: without it nothing would lead to its target. */
function shownRules(path: string): readonly MountRule[] {
  const target = real(path)
  if (target === null) return []
  const read: MountRule = { kind: 'read', path: target }
  return isLink(path) ? [read, { kind: 'link', path, to: readlinkSync(path) }] : [read]
}

/**
 * Secrets in a home folder, relative to it: `closed` cannot be read; `empty` reads as empty, for tools that would fail
 * otherwise.
 */
export const KEYS = {
  closed: [
    '.ssh',
    '.gnupg',
    '.password-store',
    '.aws',
    '.azure',
    '.kube',
    '.oci',
    '.config/gcloud',
    '.config/doctl',
    '.config/hcloud',
    '.config/rclone',
    '.config/op',
    '.config/sops',
    '.config/gh',
    '.config/glab-cli',
    '.config/hub',
    '.config/git/credentials',
    '.git-credentials',
    '.netrc',
    '_netrc',
    '.vault-token',
    '.terraform.d/credentials.tfrc.json',
    '.databrickscfg',
    '.fly',
    '.heroku',
    '.config/netlify',
    '.config/.wrangler',
    '.s3cfg',
    '.boto',
    '.pgpass',
    '.my.cnf',
    '.mylogin.cnf',
    '.config/composer/auth.json',
    '.composer/auth.json',
    '.gem/credentials',
    '.local/share/keyrings',
    '.local/share/kwalletd',
    '.mozilla',
    '.thunderbird',
    '.config/google-chrome',
    '.config/chromium',
    '.config/BraveSoftware',
    '.config/microsoft-edge',
    '.config/vivaldi',
    '.config/opera',
    '.config/Signal',
    '.config/Slack',
    '.config/Bitwarden',
    '.var/app/org.mozilla.firefox',
    '.var/app/com.google.Chrome',
    'snap/firefox',
    'snap/chromium',
  ],
  empty: [
    '.npmrc',
    '.yarnrc.yml',
    '.pypirc',
    '.config/pip/pip.conf',
    '.pip/pip.conf',
    '.cargo/credentials',
    '.cargo/credentials.toml',
    '.docker/config.json',
    '.config/containers/auth.json',
    '.bundle/config',
    '.m2/settings.xml',
    '.m2/settings-security.xml',
    '.gradle/gradle.properties',
    '.nuget/NuGet/NuGet.Config',
    '.config/NuGet/NuGet.Config',
    '.hex/hex.config',
  ],
}

/** The logins of each agent; an agent in the cage keeps its own. */
export const AGENT_KEYS: Readonly<Record<string, readonly string[]>> = {
  claude: ['.claude/.credentials.json', '.claude.json'],
  codex: ['.codex/auth.json'],
  gemini: ['.gemini/oauth_creds.json', '.gemini/.env', '.gemini/mcp-oauth-tokens.json'],
  opencode: ['.local/share/opencode/auth.json', '.local/share/opencode/mcp-auth.json'],
  copilot: ['.copilot', '.config/github-copilot'],
  qwen: ['.qwen/oauth_creds.json', '.qwen/.env'],
  continue: ['.continue/auth.json', '.continue/.env'],
  cursor: ['.config/cursor/auth.json', '.cursor/auth.json'],
  amp: ['.local/share/amp/secrets.json'],
}

/** Where services put keys for programs on this machine. */
export const SYSTEM_KEYS: readonly string[] = [
  '/run/user',
  '/run/secrets',
  '/var/run/secrets',
  '/etc/shadow',
  '/etc/gshadow',
  '/etc/ssl/private',
]

/** Variables that contain a key, or lead to a program that uses one. */
export const KEY_VARIABLES: readonly RegExp[] = [
  /^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|DBUS_SESSION_BUS_ADDRESS|DOCKER_HOST|CONTAINER_HOST|XAUTHORITY)$/,
  /^(?:AWS|AZURE|GOOGLE_APPLICATION|VAULT|DIGITALOCEAN|HCLOUD|CLOUDFLARE|FLY|HEROKU|NETLIFY|VERCEL|SENTRY|SLACK|STRIPE|TWILIO)_\w*(?:KEY|SECRET|TOKEN|CREDENTIALS|PASSWORD)\w*$/,
  /^(?:GITHUB|GH|GITLAB|BITBUCKET|GITEA|NPM|NODE_AUTH|YARN_NPM_AUTH|CARGO_REGISTRY|TWINE|PYPI|UV_PUBLISH|HEX_API|GEM_HOST_API|NUGET|RALPH)_?\w*(?:TOKEN|KEY|PASSWORD|AUTH)\w*$/,
  /^npm_config_.*(?:auth|token|password)/i,
  /^(?:PGPASSWORD|MYSQL_PWD|RALPH_QUEUE|DATABASE_URL)$/,
  /WEBHOOK/i,
]

/** The key variables of agents' services; an agent in the cage keeps its own. */
export const AGENT_VARIABLES =
  /^(?:ANTHROPIC|CLAUDE_CODE|OPENAI|CODEX|GEMINI|GOOGLE|OPENROUTER|MISTRAL|GROQ|XAI|DEEPSEEK|DASHSCOPE|COPILOT|CONTINUE|CURSOR|AMP)_\w*(?:API_KEY|AUTH_TOKEN|OAUTH_TOKEN|TOKEN)$/
