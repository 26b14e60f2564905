/**
 * The person's environment for git: without variables that lead to another repository, index or configuration (as
 * when a hook starts ralph), in plain English, and with nothing that waits for a person.
 */
export function gitEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const clean: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !MISLEADING.has(name)) clean[name] = value
  }
  // LC_ALL would win over LC_MESSAGES; hooks keep the person's character set.
  if (env['LC_ALL']) clean['LC_CTYPE'] = env['LC_ALL']
  return { ...clean, LC_MESSAGES: 'C', GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: 'true' }
}

/** `git rev-parse --local-env-vars`, what changes how a path is read, and what hides the language. */
const MISLEADING = new Set([
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_CONFIG',
  'GIT_OBJECT_DIRECTORY',
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_GRAFT_FILE',
  'GIT_INDEX_FILE',
  'GIT_INDEX_VERSION',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_REPLACE_REF_BASE',
  'GIT_PREFIX',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_SHALLOW_FILE',
  'GIT_COMMON_DIR',
  'GIT_NAMESPACE',
  'GIT_QUARANTINE_PATH',
  'GIT_LITERAL_PATHSPECS',
  'GIT_GLOB_PATHSPECS',
  'GIT_NOGLOB_PATHSPECS',
  'GIT_ICASE_PATHSPECS',
  'GIT_EXTERNAL_DIFF',
  'GIT_DIFF_OPTS',
  'GIT_REFLOG_ACTION',
  'GIT_DEFAULT_HASH',
  'GIT_TRACE',
  'GIT_OPTIONAL_LOCKS',
  'LC_ALL',
  'LANGUAGE',
])
