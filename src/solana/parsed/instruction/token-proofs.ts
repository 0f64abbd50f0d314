import type { ByteReader } from '../../../base/bytes.ts';
import type { Address } from '../../address.ts';
import type { Members } from '../wire-order.ts';
import { authorityMembers } from './authorized.ts';
import { exactly, type Read, readI8 } from './extension-data.ts';
import { nameAddresses, type Variant } from './variant.ts';

/**
 * Proofs for confidential transfers. Each is named by an i8: the distance to the instruction that verifies it, or 0
 * when an account holds what was verified before.
 */

/** The account that leads to the one proof of an instruction. */
export const proofAccount = (offset: number, account: Address | undefined): Members =>
  offset === 0 ? { proofContextStateAccount: account } : { instructionsSysvar: account };

type Offsets = ReadonlyMap<string, number>;

const readOffsets = (data: ByteReader, proofs: readonly string[]): Offsets =>
  new Map(proofs.map((proof) => [proof, readI8(data)]));

/** The names of accounts that lead to proofs: instructions are found through their sysvar, which stands first. */
function proofAccountNames(offsets: Offsets): string[] {
  const contexts = [...offsets].filter(([, offset]) => offset === 0);
  const names = contexts.map(([proof]) => `${proof}ContextStateAccount`);
  return contexts.length === offsets.size ? names : ['instructionsSysvar', ...names];
}

const offsetMembers = (offsets: Offsets): Members =>
  Object.fromEntries([...offsets].map(([proof, offset]) => [`${proof}InstructionOffset`, offset]));

/** What an instruction with several proofs looks like. */
type Proven = Readonly<{
  /** Accounts before those of the proofs. */
  accounts: readonly string[];
  /** Accounts between those of the proofs and the authority, or none. */
  reserved?: readonly string[];
  authority: string;
  /** Fewer accounts than this are too few. */
  minimum: number;
  /** What the data says before the offsets of the proofs. */
  read: Read;
  proofs: readonly string[];
}>;

/**
 * An instruction with several proofs. Which accounts it was given is not said anywhere; as nodes do, accounts are
 * taken for proofs as long as one is left for each of those that must follow.
 */
export function proven(type: string, form: Proven): Variant {
  const { accounts, reserved = [], authority, minimum, read, proofs } = form;
  return (data, given) => {
    if (given.length < minimum) return null;
    let offsets: Offsets = new Map();
    const said = exactly((rest) => {
      const members = read(rest);
      offsets = readOffsets(rest, proofs);
      return { ...members, ...offsetMembers(offsets) };
    })(data);
    const room = given.length - accounts.length - reserved.length - 1;
    const names = [...accounts, ...proofAccountNames(offsets).slice(0, Math.max(0, room)), ...reserved];
    const named = nameAddresses(names, given);
    if (named === null) return null;
    return { type, info: { ...named, ...authorityMembers(authority, given, names.length), ...said } };
  };
}
