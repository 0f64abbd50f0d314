import type { ByteReader } from '../../../base/bytes.ts';
import type { WritableJson } from '../../../base/json.ts';
import type { Address } from '../../address.ts';
import { InvalidEncoding } from '../../codec.ts';
import { sysvars } from '../../programs.ts';
import { membersReader, type Types } from '../members.ts';
import type { Members } from '../wire-order.ts';

export type ParsedParts = Readonly<{ type: string; info?: Members }>;

/** Decodes the data after the discriminant; null if there are too few addresses. */
export type Variant = (data: ByteReader, given: readonly Address[]) => ParsedParts | null;

/** Rejects trailing bytes, because most extensions require the exact data length. */
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

/** Needs no size limit, because all names come from constants in the source code. */
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
 * Names addresses by position; extra addresses are omitted. If the address is absent, `name?` is omitted and `name~`
 * is null. `name*` and `name+` take the remaining addresses (`+` at least one). `!name` is an authority, alone or with
 * its signers.
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

/** True for the old layout, which has a sysvar at the position of the first `…Sysvar` name. */
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
 * Variants in discriminant order, one per line: `type account account: member type, member type`. See `nameAddresses`
 * and `membersReader` for the notation. `a / b` is an old layout with a sysvar and a new one without it; a final `!`
 * forbids trailing data. `@name` inserts a variant from `special`.
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

/** Selects the variant by the u8 that follows the token program's discriminant. */
export const byU8 =
  (rows: readonly Variant[]): Variant =>
  (data, given) =>
    rows[data.u8()]?.(data, given) ?? null;
