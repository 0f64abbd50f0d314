import { ByteReader } from '../../base/bytes.ts';
import type { WritableJson } from '../../base/json.ts';
import type { Address } from '../address.ts';
import { decodedOrNull, utf8 } from '../codec.ts';
import type { CompiledInstruction } from '../message/message.ts';
import { programs } from '../programs.ts';
import {
  addressLookupTableVariants,
  bpfLoaderVariants,
  bpfUpgradeableLoaderVariants,
  stakeVariants,
  systemVariants,
  voteVariants,
} from './instruction/native.ts';
import { associatedTokenAccountVariants, parseTokenData } from './instruction/token.ts';
import type { ParsedParts, Variant } from './instruction/variant.ts';
import { inWireOrder } from './wire-order.ts';

// Parses like Agave 4.2; returns null where nodes return a partially decoded instruction. The output is in wire order
// with u64 as bigint: write it with `writeJson`. A new variant in `instruction/` needs a row in `test/parsed/rows`.

export type ParsedInstruction = {
  readonly parsed: WritableJson;
  readonly program: string;
  readonly programId: Address;
  readonly stackHeight: number | null;
};

/** null if the instruction has no accounts or an index is out of range. */
function keysOf(instruction: CompiledInstruction, keys: readonly Address[]): Address[] | null {
  const given: Address[] = [];
  for (const index of instruction.accounts) {
    const key = keys[index];
    if (key === undefined) return null;
    given.push(key);
  }
  return given.length === 0 ? null : given;
}

type Parse = (instruction: CompiledInstruction, keys: readonly Address[]) => ParsedParts | string | null;

const withKeys =
  (parse: (bytes: Uint8Array, given: readonly Address[]) => ParsedParts | null): Parse =>
  (instruction, keys) => {
    const given = keysOf(instruction, keys);
    return given === null ? null : parse(instruction.data, given);
  };

/** Selects the variant by a u32 discriminant; trailing bytes are ignored. */
const byU32 = (variants: readonly Variant[]): Parse =>
  withKeys((bytes, given) => {
    const data = new ByteReader(bytes);
    return variants[data.u32()]?.(data, given) ?? null;
  });

/** Borsh allows no trailing bytes. In its oldest form, the first variant has empty data. */
const parseAssociatedTokenAccount = withKeys((bytes, given) => {
  if (bytes.length > 1) return null;
  return associatedTokenAccountVariants[bytes[0] ?? 0]?.(new ByteReader(bytes.subarray(1)), given) ?? null;
});

type Program = Readonly<{ label: string; parse: Parse }>;
const splToken: Program = { label: 'spl-token', parse: withKeys(parseTokenData) };
const splMemo: Program = { label: 'spl-memo', parse: ({ data }) => utf8(data) };

/** Source: transaction-status/src/parse_instruction.rs, `PARSABLE_PROGRAM_IDS`. */
const parsable: ReadonlyMap<Address, Program> = new Map<Address, Program>([
  [programs.addressLookupTable, { label: 'address-lookup-table', parse: byU32(addressLookupTableVariants) }],
  [programs.ata, { label: 'spl-associated-token-account', parse: parseAssociatedTokenAccount }],
  [programs.memoV1, splMemo],
  [programs.memoV3, splMemo],
  [programs.memoV4, splMemo],
  [programs.bpfLoader2, { label: 'bpf-loader', parse: byU32(bpfLoaderVariants) }],
  [
    programs.bpfUpgradeableLoader,
    { label: 'bpf-upgradeable-loader', parse: byU32(bpfUpgradeableLoaderVariants) },
  ],
  [programs.stake, { label: 'stake', parse: byU32(stakeVariants) }],
  [programs.system, { label: 'system', parse: byU32(systemVariants) }],
  [programs.vote, { label: 'vote', parse: byU32(voteVariants) }],
  [programs.token, splToken],
  [programs.token2022, splToken],
]);

/**
 * Never throws on untrusted bytes. Source: transaction-status/src/parse_instruction.rs, `parse`.
 * @param stackHeight - 1 for an outer instruction; null if not recorded.
 */
export function parseInstruction(
  programId: Address,
  instruction: CompiledInstruction,
  keys: readonly Address[],
  stackHeight: number | null = 1,
): ParsedInstruction | null {
  const program = parsable.get(programId);
  if (program === undefined) return null;
  const parts = decodedOrNull(() => program.parse(instruction, keys));
  if (parts === null) return null;
  return { parsed: inWireOrder(parts), program: program.label, programId, stackHeight };
}
