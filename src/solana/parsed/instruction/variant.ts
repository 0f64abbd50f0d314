import type { ByteReader } from '../../../base/bytes.ts';
import type { Address } from '../../address.ts';
import type { Members } from '../wire-order.ts';

/** What an instruction says: a name for what it does, and what it does it to. */
export type ParsedParts = Readonly<{ type: string; info?: Members }>;

/**
 * Reads one variant of a program's instruction: its data after the discriminant, and the addresses it names.
 * null when there are fewer addresses than the variant needs.
 */
export type Variant = (data: ByteReader, given: readonly Address[]) => ParsedParts | null;

/**
 * Gives addresses their names, in order. A name that ends in `?` may be without address; addresses beyond the
 * names stay unnamed, as in the programs.
 *
 * @returns null when an address that is needed is missing
 */
export function nameAddresses(names: readonly string[], given: readonly Address[]): Members | null {
  const members: Record<string, Address> = {};
  for (const [position, name] of names.entries()) {
    const address = given[position];
    const optional = name.endsWith('?');
    if (address !== undefined) members[optional ? name.slice(0, -1) : name] = address;
    else if (!optional) return null;
  }
  return members;
}

/**
 * The variant whose info is its named addresses and what `read` finds in the data. When names depend on the
 * addresses (a program that accepts two layouts), `names` is a function of them.
 */
export function variant(
  type: string,
  names: readonly string[] | ((given: readonly Address[]) => readonly string[]),
  read?: (data: ByteReader, given: readonly Address[]) => Members,
): Variant {
  return (data, given) => {
    const addresses = nameAddresses(typeof names === 'function' ? names(given) : names, given);
    if (addresses === null) return null;
    return { type, info: read === undefined ? addresses : { ...addresses, ...read(data, given) } };
  };
}
