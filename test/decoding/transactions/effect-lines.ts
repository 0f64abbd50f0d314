import { RawJson, type WritableJson } from '../../../src/base/json.ts';
import type { Action } from '../../../src/decoding/transaction/action.ts';
import type { ParsedTransaction } from '../../../src/decoding/transaction/parse-transaction.ts';

const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const TEXT_MAX = 24;

/** The first characters of addresses and texts, `-` for null, `(…)` around objects and `[…]` around lists. */
function short(value: WritableJson): string {
  if (value === null) return '-';
  if (value instanceof RawJson) return value.text;
  if (typeof value === 'string') return value.slice(0, ADDRESS.test(value) ? 4 : TEXT_MAX);
  if (Array.isArray(value)) return `[${value.map(short).join(' ')}]`;
  return typeof value === 'object' ? `(${membersOf(value as Action['info'])})` : String(value);
}

/** Values in interface order. The amount in tokens is left out beside the raw one. */
const membersOf = (info: Action['info']): string =>
  Object.entries(info)
    .filter(([name]) => name !== 'amount' || info.amount_raw === undefined)
    .map(([, value]) => short(value))
    .filter((text) => text !== '')
    .join(' ');

/** Type and program of a transaction, then `index type values < parent program` of each action. */
export const effectLines = ({ type, protocol, actions }: ParsedTransaction): string[] => [
  `${type} by ${protocol.name}`,
  ...actions.map(({ ix_index, type: kind, info, parent_protocol }) =>
    [
      `${ix_index} ${kind}`,
      membersOf(info),
      parent_protocol === undefined ? '' : `< ${short(parent_protocol)}`,
    ]
      .filter((text) => text !== '')
      .join(' '),
  ),
];
