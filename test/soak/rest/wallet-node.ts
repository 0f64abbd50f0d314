import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Address, address, addressBytes, addressFromBytes } from '../../../src/solana/address.ts';
import { findProgramAddress } from '../../../src/solana/program-address.ts';
import { programs } from '../../../src/solana/programs.ts';

const METADATA = address('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s');
const DECIMALS = 6;
const TOKEN_ACCOUNT_BYTES = 165;
const MINT_BYTES = 82;

export type WalletNode = Readonly<{
  url: string;
  wallet(index: number): Address;
  /** Number of calls per method. */
  calls: ReadonlyMap<string, number>;
  stop(): void;
}>;

/** An address that contains its kind and index. */
function numbered(kind: number, index: number): Address {
  const bytes = Buffer.alloc(32, kind);
  bytes.writeUInt32BE(index, 28);
  return addressFromBytes(bytes);
}

const text32 = (value: string): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(value.length);
  return Buffer.concat([length, Buffer.from(value)]);
};

/** A metadata account as mpl-token-metadata writes it, up to what all versions have. */
function metadataOf(mint: Address, index: number, uri: string): Buffer {
  return Buffer.concat([
    Buffer.of(4),
    addressBytes(numbered(9, 0)),
    addressBytes(mint),
    text32(`Token ${index}`),
    text32(`T${index}`),
    text32(uri),
    Buffer.alloc(2),
    Buffer.of(0, 0, 1),
  ]);
}

function mintData(): Buffer {
  const data = Buffer.alloc(MINT_BYTES);
  data.writeBigUInt64LE(1_000_000_000n, 36);
  data.writeUInt8(DECIMALS, 44);
  data.writeUInt8(1, 45);
  return data;
}

function tokenAccount(mint: Address, owner: Address): Buffer {
  const data = Buffer.alloc(TOKEN_ACCOUNT_BYTES);
  data.set(addressBytes(mint), 0);
  data.set(addressBytes(owner), 32);
  data.writeBigUInt64LE(1_500_000n, 64);
  data.writeUInt8(1, 108);
  return data;
}

const shown = (owner: Address, data: Buffer) => ({
  lamports: 2_039_280,
  owner,
  executable: false,
  rentEpoch: 18446744073709552000,
  space: data.length,
  data: [data.toString('base64'), 'base64'],
});

/**
 * Node where each wallet has some of many tokens, all with metadata at `uriOf`. Supports the methods that all_tokens
 * uses, and getHealth.
 */
export async function startWalletNode(
  tokens: number,
  perWallet: number,
  uriOf: (token: number) => string,
): Promise<WalletNode> {
  const calls = new Map<string, number>();
  const accounts = new Map<Address, object>();
  const mints: Address[] = [];
  for (let index = 0; index < tokens; index++) {
    const mint = numbered(7, index);
    mints.push(mint);
    accounts.set(mint, shown(programs.token, mintData()));
    const seeds = [Buffer.from('metadata'), addressBytes(METADATA), addressBytes(mint)];
    const { address: place } = findProgramAddress(seeds, METADATA);
    accounts.set(place, shown(METADATA, metadataOf(mint, index, uriOf(index))));
  }
  const context = { slot: 1_000 };
  const held = (owner: Address) => {
    const first = Buffer.from(addressBytes(owner)).readUInt32BE(28) * perWallet;
    return Array.from({ length: perWallet }, (_, at) => {
      const mint = mints[(first + at * 37) % tokens] as Address;
      return { pubkey: numbered(8, first + at), account: shown(programs.token, tokenAccount(mint, owner)) };
    });
  };
  const answer = (method: string, params: readonly unknown[]): unknown => {
    if (method === 'getSlot') return 1_000;
    if (method === 'getHealth') return 'ok';
    if (method === 'getMultipleAccounts') {
      return { context, value: (params[0] as readonly Address[]).map((one) => accounts.get(one) ?? null) };
    }
    if (method !== 'getTokenAccountsByOwner') return null;
    const { programId } = params[1] as { programId: Address };
    return { context, value: programId === programs.token ? held(params[0] as Address) : [] };
  };
  const server = createServer(async (request, response) => {
    const { id, method, params = [] } = JSON.parse(await text(request));
    calls.set(method, (calls.get(method) ?? 0) + 1);
    const result = answer(method, params);
    const body = JSON.stringify({ jsonrpc: '2.0', id, result }).replaceAll(
      '18446744073709552000',
      '18446744073709551615',
    );
    response.setHeader('content-type', 'application/json');
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    wallet: (index) => numbered(6, index),
    calls,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
