import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { parseArguments } from '../../src/cli/arguments.ts'
import type { CommandSpec } from '../../src/cli/command.ts'
import { flag, GLOBAL_OPTIONS, option, type OptionSpec } from '../../src/cli/options/option.ts'
import { COMMANDS } from '../../src/cli/commands.ts'

const command = (name: string, args: string, options: readonly OptionSpec[] = []): CommandSpec => ({
  name,
  args,
  options,
  summary: name,
  examples: [],
  load: () => Promise.reject(new Error('not loaded by parsing')),
})

const TABLE = [
  command('go', '[id]', [
    option('-n, --times <x>', 'count', 'how often'),
    option('--retries <x>', 'whole', 'how often again'),
    option('--budget <x>', 'money', 'for what'),
    option('--max-tokens <x>', 'tokens', 'for what'),
    option('--timeout <x>', 'duration', 'how long'),
    option('--ref <x>', 'text', 'which'),
    option('--gate <x>', 'repeat', 'what checks it'),
    option('--tags <x>', 'list', 'what it is about'),
    option('--mode <x>', ['warn', 'off'], 'how'),
    flag('--no-gates', 'without checks'),
    flag('--loud', 'with noise'),
  ]),
  command('need', '<id>'),
  command('many', '[...files]'),
]

const parse = (...argv: string[]): ReturnType<typeof parseArguments> => parseArguments(argv, TABLE)
const refusal = (...argv: string[]): string => {
  try {
    parse(...argv)
  } catch (error) {
    if (error instanceof UserError) return `${error.exitCode} ${error.message} | ${error.fix}`
    throw error
  }
  return 'not refused'
}

describe('a value', () => {
  it.each(['007', '1234567', '1e3', '-5', '=', 'a=b', 'two words', '0x10', 'true', '--', '한국어'])(
    'reaches the command as it was typed: %s',
    (text) => {
      expect(parse('go', `--ref=${text}`).options.ref).toBe(text)
    },
  )

  it('may follow its flag, be joined to it, or stand right after its letter', () => {
    for (const argv of [['--times', '5'], ['--times=5'], ['-n', '5'], ['-n5'], ['-n=5']]) {
      expect(parse('go', ...argv).options.times).toBe(5)
    }
  })

  it('is a number, an amount or seconds where the table says so', () => {
    const { options } = parse('go', '--retries', '0', '--budget', '$5.50', '--timeout', '20m')
    expect([options.retries, options.budget, options.timeout]).toEqual([0, 5.5, 1200])
  })

  it.each([
    ['3M', 3_000_000],
    ['3m', 3_000_000],
    ['1.5M', 1_500_000],
    ['500k', 500_000],
    ['1e9', 1_000_000_000],
    ['250000', 250_000],
  ])('counts tokens: %s', (text, tokens) => {
    expect(parse('go', '--max-tokens', text).options.maxTokens).toBe(tokens)
  })

  it('may be given more than once where the table says so', () => {
    const { options } = parse('go', '--gate', 'npm test', '--gate', 'a, b', '--tags', 'x,y', '--tags', 'z')
    expect(options.gate).toEqual(['npm test', 'a, b'])
    expect(options.tags).toEqual(['x', 'y', 'z'])
  })

  it('counts last where it is given twice and may not be', () => {
    expect(parse('go', '--ref', 'a', '--ref', 'b').options.ref).toBe('b')
  })

  it.each([
    [['--times', '0'], "2 --times takes a whole number from 1, not '0'"],
    [['--times', 'five'], "2 --times takes a whole number from 1, not 'five'"],
    [['--times=-5'], "2 --times takes a whole number from 1, not '-5'"],
    [['--times', '1e3'], "2 --times takes a whole number from 1, not '1e3'"],
    [['--max-tokens', '-1'], "2 --max-tokens takes a number of tokens from 1, like 500k or 3M, not '-1'"],
    [['--max-tokens', '0'], "2 --max-tokens takes a number of tokens from 1, like 500k or 3M, not '0'"],
    [['--max-tokens', '3 MB'], "2 --max-tokens takes a number of tokens from 1, like 500k or 3M, not '3 MB'"],
    [['--budget', 'lots'], "2 --budget takes an amount in dollars, like 5.00, not 'lots'"],
    [['--timeout', 'soon'], "2 --timeout takes a time, like 90s, 20m or 1h 30m, not 'soon'"],
    [['--mode', 'on'], "2 --mode takes one of warn, off, not 'on'"],
    [['--gate', ''], "2 --gate takes a value, not ''"],
    [['--ref'], '2 --ref needs a value: --ref <x>'],
    [['--ref', '--loud'], '2 --ref needs a value: --ref <x>'],
    [['--loud=yes'], '2 --loud takes no value'],
  ])('that does not fit is refused with its flag: %j', (argv, message) => {
    expect(refusal('go', ...argv)).toBe(`${message} | `)
  })
})

describe('a flag', () => {
  it('may stand before the command, and after its words', () => {
    for (const argv of [
      ['--loud', 'go', '4'],
      ['go', '--loud', '4'],
      ['go', '4', '--loud'],
    ]) {
      const { command, args, options } = parse(...argv)
      expect([command?.name, args, options.loud]).toEqual(['go', ['4'], true])
    }
  })

  it('that begins with no is itself, not the opposite of another', () => {
    expect(parse('go', '--no-gates').options.noGates).toBe(true)
    expect(parse('go').options.noGates).toBe(false)
    expect(parse('go', '--no-color').options.noColor).toBe(true)
  })

  it.each([
    [['go', '--tiems', '4'], "2 ralph go has no option '--tiems' | Did you mean --times?"],
    [['go', '--xyzzy'], "2 ralph go has no option '--xyzzy' | ralph go --help lists the options."],
    [['go', '-q'], "2 ralph go has no option '-q' | ralph go --help lists the options."],
    [['need', '--loud', '4'], "2 ralph need has no option '--loud' | ralph need --help lists the options."],
    [['--jsn'], "2 there is no option '--jsn' | Did you mean --json?"],
  ])('that nobody knows is refused, with the closest: %j', (argv, message) => {
    expect(refusal(...argv)).toBe(message)
  })
})

describe('a word', () => {
  it.each(['007', '-', '1e3', 'T-004', 'a=b'])('reaches the command as it was typed: %s', (word) => {
    expect(parse('need', word).args).toEqual([word])
  })

  it('is a word after --, whatever it looks like', () => {
    expect(parse('many', 'a', '--', '--loud', '-n').args).toEqual(['a', '--loud', '-n'])
  })

  it.each([
    [['need'], '2 ralph need needs <id> | Usage: ralph need <id>'],
    [['need', 'a', 'b'], "2 ralph need does not take 'b' | Usage: ralph need <id>"],
    [['goo'], "2 there is no command 'goo' | Did you mean ralph go?"],
    [['ls'], "2 there is no command 'ls' | Did you mean ralph list?"],
    [
      ['Done'],
      "2 there is no command 'Done' | ralph list --status DONE shows what is done. ralph run T-004 has a task done.",
    ],
    [['xyzzy'], "2 there is no command 'xyzzy' | ralph --help lists the commands."],
  ])('that is missing or too many is told: %j', (argv, message) => {
    expect(refusal(...argv)).toBe(message)
  })

  it('asks for help where it is that', () => {
    const { command, options } = parse('help', 'need')
    expect([command?.name, options.help]).toEqual(['need', true])
    expect(parse('help').command).toBe(null)
  })

  it('is not missed where only help is wanted', () => {
    expect(parse('need', '--help').options.help).toBe(true)
  })
})

describe('the table of commands', () => {
  it('gives an option of one name the same value in every command, for a value is told from a word before the command is known', () => {
    const seen = new Map<string, string>()
    const options: readonly OptionSpec[] = [...GLOBAL_OPTIONS, ...COMMANDS.flatMap((one) => [...one.options])]
    for (const spec of options) {
      const kind = spec.takes === 'flag' ? 'flag' : 'value'
      expect([spec.name, seen.get(spec.name) ?? kind]).toEqual([spec.name, kind])
      seen.set(spec.name, kind)
    }
  })

  it.each(COMMANDS)('$name has an example that parses, and code to load', async (spec) => {
    for (const example of spec.examples) {
      const [program, ...argv] = (example.split(/ [|>]/)[0] ?? '').match(/"[^"]*"|\S+/g) ?? []
      expect(program).toBe('ralph')
      expect(parseArguments(argv, COMMANDS).command).toBe(spec)
    }
    expect((await spec.load()).run).toBeTypeOf('function')
  })

  it.each(COMMANDS)('$name says what each value is', (spec) => {
    for (const option of spec.options) expect(option.takes === 'flag' || option.value).toBeTruthy()
  })
})
