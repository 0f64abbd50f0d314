import type { NodeChange, NodeInput, NodeOptions } from '../app/commands/upstreams.ts';
import { ArgumentsError } from '../config/errors.ts';
import type { OptionValues } from '../config/sources.ts';
import { list, text } from './action-command.ts';

export const nodeOptions = {
  ...{ url: text, network: text, ws: text, grpc: text, header: list },
  ...{ 'requests-per-second': text, 'requests-burst': text, pipelining: text, priority: text, weight: text },
  ...{ methods: text, archive: text, indexes: text, region: text },
};

type NodeValues = OptionValues<typeof nodeOptions>;

/** Option value that removes a setting. */
const NONE = 'none';
/** Value of --grpc that removes the Geyser URL. */
const OFF = 'off';

type OptionValue = NodeOptions[string];
type Parser = (text: string, option: string) => OptionValue;

/** @param word - accepted in place of a number, with its value. */
const number =
  (word: string | null, value: OptionValue = null): Parser =>
  (text, option) => {
    if (text === word) return value;
    if (/^\d{1,9}$/.test(text)) return Number(text);
    const alternative = word === null ? '' : `, or ${word}`;
    throw new ArgumentsError(`--${option} must be a whole number such as 10${alternative}`);
  };

const names: Parser = (text) => (text === NONE ? null : text.split(',').map((name) => name.trim()));

const yesOrNo: Parser = (text, option) => {
  if (text === NONE) return null;
  if (text === 'yes' || text === 'no') return text === 'yes';
  throw new ArgumentsError(`--${option} must be yes, no or none`);
};

/** Node options, whose names in the configuration file have underscores. */
const parsers = {
  'requests-per-second': number(NONE),
  'requests-burst': number(NONE),
  pipelining: number('auto', 'auto'),
  priority: number(null),
  weight: number(null),
  methods: names,
  archive: yesOrNo,
  indexes: names,
  region: (text) => (text === NONE ? null : text),
} satisfies Record<string, Parser>;

function headersOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new ArgumentsError('--header must be NAME=VALUE such as x-token=env:TOKEN');
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

function optionsOf(values: NodeValues): NodeOptions {
  const given = Object.entries<Parser>(parsers);
  return Object.fromEntries(
    given.flatMap(([option, parse]) => {
      const text = values[option as keyof typeof parsers];
      return text === undefined ? [] : [[option.replaceAll('-', '_'), parse(text, option)]];
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
