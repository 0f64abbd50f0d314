import type { NodeChange, NodeInput, NodeOptions } from '../app/commands/upstreams.ts';
import { ArgumentsError } from '../config/errors.ts';
import type { OptionValues } from '../config/sources.ts';
import { list, text } from './action-command.ts';

export const nodeOptions = {
  ...{ url: text, network: text, ws: text, grpc: text, header: list },
  ...{ 'requests-per-second': text, 'requests-burst': text, pipelining: text, priority: text, weight: text },
};

type NodeValues = OptionValues<typeof nodeOptions>;

/** Option value for no limit. */
const NONE = 'none';
/** Value of --grpc that removes the Geyser URL. */
const OFF = 'off';

/** Numeric options, with their names in the configuration file. */
const numbers = {
  'requests-per-second': 'requests_per_second',
  'requests-burst': 'requests_burst',
  pipelining: 'pipelining',
  priority: 'priority',
  weight: 'weight',
} as const;

/** Word that each option accepts in place of a number. */
const words: Readonly<Partial<Record<keyof typeof numbers, string>>> = {
  'requests-per-second': NONE,
  'requests-burst': NONE,
  pipelining: 'auto',
};

function headersOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new ArgumentsError('--header must be NAME=VALUE such as x-token=env:TOKEN');
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

function numberOf(option: keyof typeof numbers, text: string): NodeOptions[string] {
  const word = words[option];
  if (text === word) return word === NONE ? null : 'auto';
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const alternative = word === undefined ? '' : `, or ${word}`;
  throw new ArgumentsError(`--${option} must be a whole number such as 10${alternative}`);
}

function optionsOf(values: NodeValues): NodeOptions {
  const given = Object.entries(numbers) as [keyof typeof numbers, string][];
  return Object.fromEntries(
    given.flatMap(([option, name]) => {
      const text = values[option];
      return text === undefined ? [] : [[name, numberOf(option, text)]];
    }),
  );
}

/** @throws ArgumentsError */
export function parseNodeInput(name: string, values: NodeValues): NodeInput {
  const { url, network, ws, grpc, header = [] } = values;
  const missing = url === undefined ? '--url' : '--network';
  if (url === undefined || network === undefined)
    throw new ArgumentsError(`${missing} is required: see solway upstream --help`);
  return { name, url, network, ws, grpc, headers: headersOf(header), options: optionsOf(values) };
}

/** @throws ArgumentsError */
export function parseNodeChange(values: NodeValues): NodeChange {
  const { url, ws, grpc, header } = values;
  const options = optionsOf(values);
  const isAnyGiven = [url, ws, grpc, header].some((value) => value !== undefined);
  if (!isAnyGiven && Object.keys(options).length === 0)
    throw new ArgumentsError(
      'nothing to change: add an option, such as solway upstream change NODE --requests-per-second 50',
    );
  return {
    url,
    ws,
    grpc: grpc === OFF ? null : grpc,
    headers: header === undefined ? undefined : headersOf(header),
    options: Object.keys(options).length === 0 ? undefined : options,
  };
}
