import type { ByteReader } from '../../../base/bytes.ts';
import type { Address } from '../../address.ts';
import type { Members } from '../wire-order.ts';
import { nameAddresses, type Variant } from './variant.ts';

/**
 * The one who decides: a single key under its own name, or, when signers follow it, the multisig account under
 * `multisig…` and the signers' keys.
 */
export function authorityMembers(name: string, given: readonly Address[], position: number): Members {
  const signers = given.slice(position + 1);
  if (signers.length === 0) return { [name]: given[position] };
  return { [`multisig${name[0]?.toUpperCase()}${name.slice(1)}`]: given[position], signers };
}

/** A variant that an authority allows; its account stands behind the named ones and must be there. */
export function authorized(
  type: string,
  names: readonly string[],
  authority: string,
  read?: (data: ByteReader) => Members,
): Variant {
  return (data, given) => {
    if (given.length <= names.length) return null;
    const addresses = { ...nameAddresses(names, given), ...authorityMembers(authority, given, names.length) };
    return { type, info: { ...addresses, ...read?.(data) } };
  };
}
