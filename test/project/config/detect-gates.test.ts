import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { detectGates } from '../../../src/config/detect-gates.ts'
import { makeFolder, put } from '../../repository.ts'

let root: string

beforeEach(() => {
  root = makeFolder()
  put(root, { '.git/HEAD': '' })
})

type Files = Readonly<Record<string, unknown>>

/** `name: command` of each gate that a project with these files has. */
function detected(files: Files, folder = ''): readonly string[] {
  for (const [file, content] of Object.entries(files))
    put(root, { [file]: typeof content === 'string' ? content : JSON.stringify(content) })
  return detectGates(join(root, folder)).map(({ name, command }) => `${name}: ${command}`)
}

describe('in package.json', () => {
  it('the scripts are gates, quick ones first, whatever their order', () => {
    const scripts = {
      build: 'tsc',
      test: 'vitest run',
      dev: 'vite',
      lint: 'oxlint',
      typecheck: 'tsc --noEmit',
    }
    expect(detected({ 'package.json': { scripts } })).toEqual([
      'typecheck: npm run typecheck',
      'lint: npm run lint',
      'test: npm test',
      'build: npm run build',
    ])
  })

  it('a type check goes by several names', () => {
    expect(detected({ 'package.json': { scripts: { 'check-types': 'tsc' } } })).toEqual([
      'typecheck: npm run check-types',
    ])
  })

  it("npm's placeholder, an empty script and one that never ends are none", () => {
    const scripts = {
      test: 'echo "Error: no test specified" && exit 1',
      lint: ' ',
      build: 'tsc --watch',
      typecheck: 3,
    }
    expect(detected({ 'package.json': { scripts } })).toEqual([])
  })

  it('a test script that watches gives way to one that ends', () => {
    const scripts = { test: 'jest --watch', 'test:ci': 'jest --ci' }
    expect(detected({ 'package.json': { scripts } })).toEqual(['test: npm run test:ci'])
  })

  it.each([
    [{ 'package-lock.json': '' }, 'test: npm test'],
    [{ 'pnpm-lock.yaml': '' }, 'test: pnpm run test'],
    [{ 'yarn.lock': '' }, 'test: yarn run test'],
    [{ 'bun.lock': '' }, 'test: bun run test'],
    [{ 'bun.lockb': '' }, 'test: bun run test'],
  ])('the lock file tells the package manager: %j', (lock: Files, gate) => {
    expect(detected({ 'package.json': { scripts: { test: 'node --test' } }, ...lock })).toEqual([gate])
  })

  it('the manager that it names wins over the lock file', () => {
    const manifest = { packageManager: 'pnpm@9.1.0', scripts: { lint: 'oxlint' } }
    expect(detected({ 'package.json': manifest, 'yarn.lock': '' })).toEqual(['lint: pnpm run lint'])
  })

  it("a workspace's lock file may lie further up", () => {
    const files = { 'pnpm-lock.yaml': '', 'apps/web/package.json': { scripts: { test: 'node --test' } } }
    expect(detected(files, 'apps/web')).toEqual(['test: pnpm run test'])
  })

  it.each(['{', '[]', 'null', '{"scripts": 3}', '{"scripts": null}'])('%s has none', (text) => {
    expect(detected({ 'package.json': text })).toEqual([])
  })
})

describe('in Cargo.toml', () => {
  it('cargo checks and tests', () => {
    expect(detected({ 'Cargo.toml': '[package]\nname = "shop"\n' })).toEqual([
      'typecheck: cargo check --all-targets',
      'test: cargo test',
    ])
  })

  it('clippy is a gate where it is set up, and a workspace is checked whole', () => {
    expect(
      detected({ 'Cargo.toml': '[workspace]\nmembers = ["a"]\n[workspace.lints.clippy]\nall = "deny"\n' }),
    ).toEqual([
      'typecheck: cargo check --workspace --all-targets',
      'lint: cargo clippy --workspace --all-targets -- -D warnings',
      'test: cargo test --workspace',
    ])
  })
})

describe('in go.mod', () => {
  it('go vets, tests and builds', () => {
    expect(detected({ 'go.mod': 'module shop\n' })).toEqual([
      'lint: go vet ./...',
      'test: go test ./...',
      'build: go build ./...',
    ])
  })

  it('golangci-lint takes the place of vet where it is set up', () => {
    expect(detected({ 'go.mod': '', '.golangci.yml': '' })[0]).toBe('lint: golangci-lint run')
  })
})

describe('in pyproject.toml', () => {
  it('the tools that it configures are gates', () => {
    const text =
      '[project]\nname = "shop"\n[tool.mypy]\nstrict = true\n[tool.ruff.lint]\n[tool.pytest.ini_options]\n'
    expect(detected({ 'pyproject.toml': text })).toEqual([
      'typecheck: mypy .',
      'lint: ruff check',
      'test: pytest',
    ])
  })

  it('the tools that it depends on are gates, by the runner of its lock file', () => {
    const text = '[dependency-groups]\ndev = ["ruff>=0.6", "pytest", "pyright[nodejs]"]\n'
    expect(detected({ 'pyproject.toml': text, 'uv.lock': '' })).toEqual([
      'typecheck: uv run pyright',
      'lint: uv run ruff check',
      'test: uv run pytest',
    ])
  })

  it("poetry's way of naming them is understood", () => {
    const text = '[tool.poetry.group.dev.dependencies]\npytest = "^8"\n'
    expect(detected({ 'pyproject.toml': text, 'poetry.lock': '' })).toEqual(['test: poetry run pytest'])
  })

  it('mypy keeps the files that it is configured for', () => {
    expect(detected({ 'pyproject.toml': '[tool.mypy]\nfiles = ["src"]\n' })).toEqual(['typecheck: mypy'])
    expect(detected({ 'pyproject.toml': '[tool.mypy]\nstrict = true\n[tool.x]\nfiles = []\n' })).toEqual([
      'typecheck: mypy .',
    ])
  })

  it('a tool in a comment, or in the name of another, is not named', () => {
    expect(detected({ 'pyproject.toml': '# ruff = "1"\ndev = ["pytest-cov", "x"] # "mypy"\n' })).toEqual([])
  })
})

describe('in mix.exs', () => {
  it('mix compiles and tests, and credo where it is a dependency', () => {
    expect(detected({ 'mix.exs': 'defp deps, do: [{:credo, "~> 1.7"}]' })).toEqual([
      'typecheck: mix compile --warnings-as-errors',
      'lint: mix credo',
      'test: mix test',
    ])
  })
})

describe('in a Makefile', () => {
  it('the targets are gates', () => {
    const text =
      'CC := gcc\nCXX ::= g++\ninclude x\n.PHONY: test\nlint typecheck: deps\n\t./lint.sh\n# test: no\nbuild:: a\n'
    expect(detected({ Makefile: text })).toEqual([
      'typecheck: make typecheck',
      'lint: make lint',
      'build: make build',
    ])
  })

  it('check stands for test', () => {
    expect(detected({ makefile: 'check: all\n' })).toEqual(['test: make check'])
  })

  it('they add only what the other files leave open', () => {
    expect(detected({ Makefile: 'test:\n\tgo test\ntypecheck:\n\ttrue\n', 'go.mod': '' })).toEqual([
      'typecheck: make typecheck',
      'lint: go vet ./...',
      'test: go test ./...',
      'build: go build ./...',
    ])
  })
})

describe('of Python', () => {
  it.each<[Files, string]>([
    [{ 'pytest.ini': '' }, 'pytest'],
    [{ '.pytest.ini': '', 'uv.lock': '' }, 'uv run pytest'],
    [{ 'tox.ini': '[pytest]\n' }, 'pytest'],
    [{ 'tox.ini': '[testenv]\ncommands = pytest {posargs}\n' }, 'pytest'],
    [{ 'setup.cfg': '[tool:pytest]\n' }, 'pytest'],
    [{ 'setup.cfg': 'tests_require =\n    pytest>=8\n    ruff\n' }, 'pytest'],
    [{ 'requirements-dev.txt': 'flask==3\npytest==8.1 # tests\n' }, 'pytest'],
    [{ 'tests/test_a.py': 'from shop import a\n\ndef test_a():\n    assert a\n' }, 'pytest'],
    [
      { 'tests/test_a.py': 'import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self): pass\n' },
      'python3 -m unittest discover -s tests',
    ],
    [
      { 'tests/test_a.py': 'import unittest\n', 'tests/__init__.py': '', 'uv.lock': '' },
      'uv run python3 -m unittest discover -s tests -t .',
    ],
  ])('the files tell the tests: %j', (files, command) => {
    expect(detected(files)).toEqual([`test: ${command}`])
  })

  it.each<[Files]>([
    [{ 'requirements.txt': 'pytest-cov\n# pytest\n' }],
    [{ 'tox.ini': '[tox]\nenvlist = py3\n' }],
    [{ 'setup.cfg': '[metadata]\nname = my-pytest\n' }],
    [{ 'tests/test_a.py': 'print(1)\n' }],
  ])('what only looks like it is no test: %j', (files) => {
    expect(detected(files)).toEqual([])
  })

  it('test files alone add nothing where a Makefile says how they run', () => {
    const files = { Makefile: 'test:\n\t./run\n', 'tests/test_a.py': 'import pytest\n' }
    expect(detected(files)).toEqual(['test: make test'])
  })
})

describe('of other tools', () => {
  it.each<[Files, readonly string[]]>([
    [
      { justfile: 'set shell := ["sh"]\nx := "a:b"\n@lint *args:\n  eslint\ncheck: lint\n  t\n' },
      ['lint: just lint', 'test: just check'],
    ],
    [{ 'Taskfile.yml': "version: '3'\ntasks:\n  test:\n    cmds: [go test]\n" }, ['test: task test']],
    [{ gradlew: '', 'build.gradle': '' }, ['test: ./gradlew test']],
    [{ mvnw: '', 'pom.xml': '' }, ['test: ./mvnw --batch-mode test']],
    [
      { 'deno.json': { tasks: { test: 'deno test -A', lint: 'deno lint' } } },
      ['lint: deno task lint', 'test: deno task test'],
    ],
    [{ 'deno.jsonc': '{ /* none */ }' }, ['test: deno test --allow-all --permit-no-files']],
    [{ 'composer.json': { scripts: { test: ['@unit', '@stan'] } } }, ['test: composer run test']],
    [{ 'composer.json': { 'require-dev': { 'phpunit/phpunit': '^11' } } }, ['test: vendor/bin/phpunit']],
    [{ 'Shop.sln': '' }, ['test: dotnet test']],
  ])('%j', (files, gates) => {
    expect(detected(files)).toEqual(gates)
  })

  it('a deno.json beside a package.json with tests adds none', () => {
    const files = { 'package.json': { scripts: { test: 'node --test' } }, 'deno.json': { name: '@shop/a' } }
    expect(detected(files)).toEqual(['test: npm test'])
  })
})

describe('in a project', () => {
  it('of two languages both are checked, under names of their own', () => {
    const files = { 'package.json': { scripts: { test: 'node --test' } }, 'Cargo.toml': '[package]\n' }
    expect(detected(files)).toEqual([
      'typecheck: cargo check --all-targets',
      'test: npm test',
      'test (cargo): cargo test',
    ])
  })

  it('of none that is known there are no gates', () => {
    expect(detected({ 'README.md': '# Shop' })).toEqual([])
    expect(detectGates(join(root, 'not/there'))).toEqual([])
  })

  it('each gate must pass within ten minutes, and a linter if it passed before', () => {
    put(root, { 'go.mod': '' })
    expect(detectGates(root)).toMatchObject([
      { name: 'lint', required: false, ifGreen: true, timeoutSeconds: 600 },
      { name: 'test', required: true, timeoutSeconds: 600 },
      { name: 'build', required: true, timeoutSeconds: 600 },
    ])
  })
})
