/** Secrets in a home folder: `closed` cannot be read; `empty` reads as empty, for tools that would fail otherwise. */
interface KeyPlaces {
  readonly closed: readonly string[]
  readonly empty: readonly string[]
}

/** Relative to the home. */
export const KEYS: KeyPlaces = {
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
