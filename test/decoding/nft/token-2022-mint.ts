import { mint as plainMint } from '../../../packages/localnet/test/support/accounts.ts';
import { ByteWriter } from '../../../src/base/bytes.ts';
import { type Address, addressBytes } from '../../../src/solana/address.ts';
import { MULTISIG_BYTES } from '../../../src/solana/token/token-state.ts';

function writeText(writer: ByteWriter, text: string): void {
  const bytes = Buffer.from(text);
  writer.u32(bytes.length).bytes(bytes);
}

/** Token-2022 mint with metadata and optional group membership. Source: spl-token-metadata-interface. */
export function token2022Mint({
  mint,
  updateAuthority = null,
  group = null,
  name = 'Name',
  additionalMetadata = [],
  supply = 1n,
  decimals = 0,
}: {
  mint: Address;
  updateAuthority?: Address | null;
  group?: Address | null;
  name?: string;
  additionalMetadata?: readonly (readonly [string, string])[];
  supply?: bigint;
  decimals?: number;
}): Uint8Array {
  const metadata = new ByteWriter()
    .bytes(updateAuthority === null ? new Uint8Array(32) : addressBytes(updateAuthority))
    .bytes(addressBytes(mint));
  for (const text of [name, 'SYM', 'https://u']) writeText(metadata, text);
  metadata.u32(additionalMetadata.length);
  for (const text of additionalMetadata.flat()) writeText(metadata, text);
  const member =
    group === null ? [] : [...addressBytes(mint), ...addressBytes(group), 7, ...new Uint8Array(7)];
  const base = new Uint8Array(166);
  base.set(plainMint(supply, decimals).data);
  base[165] = 1;
  const extension = (type: number, value: readonly number[]): number[] =>
    value.length === 0 ? [] : [type, 0, value.length & 255, value.length >> 8, ...value];
  const data = [...base, ...extension(23, member), ...extension(19, [...metadata.finish()])];
  // A mint of a multisig's size is padded by two bytes, as the program does.
  return Uint8Array.from(data.length === MULTISIG_BYTES ? [...data, 0, 0] : data);
}
