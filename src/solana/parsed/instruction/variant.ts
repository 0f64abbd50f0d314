import type { ByteReader } from '../../../base/bytes.ts';
import type { WritableJson } from '../../../base/json.ts';
import type { Address } from '../../address.ts';
import { InvalidEncoding } from '../../codec.ts';
import { sysvars } from '../../programs.ts';
import { membersReader, type Types } from '../members.ts';
import type { Members } from '../wire-order.ts';

export type ParsedParts = Readonly<{ type: string; info?: Members }>;

/** Decodes after the discriminant; null with too few addresses. */
export type Variant = (data: ByteReader, given: readonly Address[]) => ParsedParts | null;

/** Most extensions require the exact data length. */
export const exactly =
  (read: (data: ByteReader) => Members) =>
  (data: ByteReader): Members => {
    const members = read(data);
    if (data.remaining > 0) throw new InvalidEncoding('trailing bytes');
    return members;
  };

/** A single authority, or a multisig with its signers under `multisig…`. */
export function authorityMembers(name: string, given: readonly Address[], position: number): Members {
  const signers = given.slice(position + 1);
  if (signers.length === 0) return { [name]: given[position] };
  return { [`multisig${name[0]?.toUpperCase()}${name.slice(1)}`]: given[position], signers };
}

type Name = Readonly<{ isAuthority: boolean; name: string; mark: string }>;

/** Bounded, because the texts are those of the tables. */
const parsedNames = new Map<string, Name>();

function parseName(text: string): Name {
  const known = parsedNames.get(text);
  if (known !== undefined) return known;
  const [, authority, name = '', mark = ''] = /^(!?)(\w+)([?~*+]?)$/.exec(text) ?? [];
  const parsed = { isAuthority: authority === '!', name, mark };
  parsedNames.set(text, parsed);
  return parsed;
}

/**
 * Extra addresses stay unnamed. `name?` is omitted and `name~` null when absent, `name*` and `name+` take the rest
 * (the latter at least one), `!name` is an authority, alone or with its signers.
 */
export function nameAddresses(names: readonly string[], given: readonly Address[]): Members | null {
  const members: Record<string, WritableJson> = {};
  for (const [position, text] of names.entries()) {
    const { isAuthority, name, mark } = parseName(text);
    const address = given[position];
    if (address === undefined && mark !== '?' && mark !== '~' && mark !== '*') return null;
    if (isAuthority) Object.assign(members, authorityMembers(name, given, position));
    else if (mark === '*' || mark === '+') members[name] = given.slice(position);
    else if (address !== undefined || mark === '~') members[name] = address ?? null;
  }
  return members;
}

/** The old layout has a sysvar at this position. */
function hasSysvar(names: readonly string[], given: readonly Address[]): boolean {
  const position = names.findIndex((name) => name.endsWith('Sysvar'));
  return given[position] === (names[position] === 'rentSysvar' ? sysvars.rent : sysvars.clock);
}

function variant(row: string, own: Types): Variant {
  const [head = '', fields = ''] = row.split(':');
  const [type = '', ...words] = head.trim().split(/\s+/);
  const [first = [], second] = words
    .join(' ')
    .split('/')
    .map((names) => names.split(' ').filter((name) => name !== ''));
  const isExact = fields.endsWith('!');
  const read = membersReader(isExact ? fields.slice(0, -1) : fields, own);
  const readAll = isExact ? exactly(read) : read;
  return (data, given) => {
    const names = second === undefined || hasSysvar(first, given) ? first : second;
    const addresses = nameAddresses(names, given);
    return addresses === null ? null : { type, info: { ...addresses, ...readAll(data) } };
  };
}

/**
 * In order of their discriminants, one a line: `type account account: member type, member type`, for the names see
 * `nameAddresses` and `membersReader`. `a / b` are an old layout with a sysvar and a new one without; `!` at the
 * end forbids trailing data. `@name` inserts a variant of `special`.
 */
export const variants = (
  text: string,
  special: Readonly<Record<string, Variant>> = {},
  own: Types = {},
): readonly Variant[] =>
  text
    .replaceAll(/\n {6,}/g, ' ')
    .split('\n')
    .map((row) => row.trim())
    .filter((row) => row !== '')
    .map((row) => (row.startsWith('@') ? (special[row.slice(1)] as Variant) : variant(row, own)));

/** By a u8 after the token program's own. */
export const byU8 =
  (rows: readonly Variant[]): Variant =>
  (data, given) =>
    rows[data.u8()]?.(data, given) ?? null;
