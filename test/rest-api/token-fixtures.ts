import { PublicKey } from '@solana/web3.js';
import { account, mint, tokenAccount } from '../../packages/localnet/test/support/accounts.ts';
import { ByteWriter } from '../../src/base/bytes.ts';
import type { JsonValue } from '../../src/base/json.ts';
import type { NftOffChain } from '../../src/decoding/nft/nft.ts';
import { type ListedToken, noTokenList, type TokenList } from '../../src/decoding/token/token-list.ts';
import { type Address, addressBytes, addressFromBytes } from '../../src/solana/address.ts';
import type { AccountEntry } from './sns-accounts.ts';

/** Token and NFT accounts at addresses derived with web3.js, independent of the code under test. */

const METADATA = new PublicKey('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s');
const CORE = 'CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d' as Address;

/** Deterministic address, on or off the curve. */
export const numbered = (kind: number, n: number): Address => {
  const bytes = new Uint8Array(32).fill(kind);
  new DataView(bytes.buffer).setUint32(0, n + 1);
  return addressFromBytes(bytes);
};

const metadataOf = (of: Address): Address =>
  PublicKey.findProgramAddressSync(
    [Buffer.from('metadata'), METADATA.toBytes(), addressBytes(of)],
    METADATA,
  )[0].toBase58() as Address;

export type MetadataFields = Readonly<{
  name?: string;
  symbol?: string;
  uri?: string;
  /** Hundredths of a percent. */
  royalty?: number;
  updateAuthority?: Address;
  creators?: readonly Address[];
  collection?: Readonly<{ address: Address; verified: boolean }>;
  /** 0 NonFungible, 1 FungibleAsset, 2 Fungible, 4 ProgrammableNonFungible. */
  standard?: 0 | 1 | 2 | 4;
}>;

const padded = (text: string, length: number): Uint8Array => {
  const bytes = new Uint8Array(length);
  bytes.set(Buffer.from(text));
  return bytes;
};

/** Metadata account. Layout: rest-api.md §4. */
export function metadata(of: Address, metadataFields: MetadataFields): AccountEntry {
  const {
    name = 'A token',
    symbol = 'TKN',
    uri = '',
    royalty = 0,
    creators = [],
    standard = 2,
  } = metadataFields;
  const writer = new ByteWriter(679).u8(4);
  writer.bytes(addressBytes(metadataFields.updateAuthority ?? of)).bytes(addressBytes(of));
  writer.u32(32).bytes(padded(name, 32)).u32(10).bytes(padded(symbol, 10));
  writer.u32(200).bytes(padded(uri, 200)).u16(royalty);
  writer.u8(creators.length > 0 ? 1 : 0);
  if (creators.length > 0) writer.u32(creators.length);
  for (const creator of creators)
    writer
      .bytes(addressBytes(creator))
      .u8(1)
      .u8(100 / creators.length);
  writer.u8(0).u8(1).u8(0).u8(1).u8(standard);
  writer.u8(metadataFields.collection === undefined ? 0 : 1);
  if (metadataFields.collection !== undefined) {
    writer
      .u8(metadataFields.collection.verified ? 1 : 0)
      .bytes(addressBytes(metadataFields.collection.address));
  }
  writer.zeros(679 - writer.length);
  return [metadataOf(of), account(METADATA.toBase58() as Address, writer.finish())];
}

export function heldToken(
  n: number,
  wallet: Address,
  made: Readonly<{
    amount: bigint;
    decimals: number;
    supply?: bigint;
    metadataFields?: MetadataFields | null;
  }>,
): AccountEntry[] {
  const { amount, decimals, supply = amount, metadataFields = {} } = made;
  const of = numbered(1, n);
  return [
    [of, mint(supply, decimals)],
    [numbered(2, n), tokenAccount(of, wallet, amount)],
    ...(metadataFields === null ? [] : [metadata(of, { name: `Token ${n}`, ...metadataFields })]),
  ];
}

export const heldNft = (n: number, wallet: Address, metadataFields: MetadataFields = {}): AccountEntry[] =>
  heldToken(n, wallet, {
    amount: 1n,
    decimals: 0,
    metadataFields: { name: `NFT ${n}`, standard: 0, ...metadataFields },
  });

const text = (writer: ByteWriter, value: string): ByteWriter =>
  writer.u32(Buffer.byteLength(value)).bytes(Buffer.from(value));

export function coreAsset(at: Address, owner: Address, uri: string): AccountEntry {
  const writer = new ByteWriter().u8(1).bytes(addressBytes(owner)).u8(1).bytes(addressBytes(owner));
  text(text(writer, 'Core asset'), uri).u8(0);
  return [at, account(CORE, writer.finish())];
}

export class Documents implements NftOffChain {
  readonly #reads: string[] = [];
  readonly forgotten: string[] = [];
  /** Fetches of these never end. */
  readonly loading = new Set<string>();
  readonly #documents: ReadonlyMap<string, JsonValue>;

  constructor(documents: { readonly [uri: string]: JsonValue } = {}) {
    this.#documents = new Map(Object.entries(documents));
  }

  async read(uris: Iterable<string>, signal: AbortSignal | null): Promise<ReadonlyMap<string, JsonValue>> {
    const wanted = [...uris];
    this.#reads.push(...wanted);
    if (signal !== null && wanted.some((uri) => this.loading.has(uri))) throw new Error('waits for a fetch');
    return new Map([...this.#documents].filter(([uri]) => wanted.includes(uri) && !this.loading.has(uri)));
  }

  isLoading(uri: string): boolean {
    return this.loading.has(uri);
  }

  forget(uri: string): void {
    this.forgotten.push(uri);
  }

  /** Reads since the last call. */
  reads(): string[] {
    return this.#reads.splice(0);
  }
}

const noDas = {
  has: () => false,
  request: () => Promise.reject(new Error('there is no server of DAS')),
};

export const listing = (tokens: { readonly [mint: string]: ListedToken }): TokenList => ({
  find: (of) => tokens[of] ?? null,
});

/** Services of token and NFT endpoints; missing ones return nothing. */
export const tokenServices = (offChain: Documents, tokenList: TokenList = noTokenList) => ({
  offChain,
  tokenList,
  das: noDas,
});
