import { type Address, address, addressBytes, addressFromBytes } from '../../../src/solana/address.ts';
import { findProgramAddress } from '../../../src/solana/program-address.ts';
import { programs } from '../../../src/solana/programs.ts';
import { metadataData } from '../../decoding/nft/encode-accounts.ts';
import { type MockNode, send, startMock } from '../../upstream/mock/server.ts';

const METADATA = address('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s');

function numbered(kind: number, index: number): Address {
  const bytes = Buffer.alloc(32, kind);
  bytes.writeUInt32BE(index, 28);
  return addressFromBytes(bytes);
}

export const walletAt = (index: number): Address => numbered(6, index);

const metadataOf = (mint: Address, index: number, uri: string): Uint8Array =>
  metadataData(
    {
      ...{ updateAuthority: numbered(9, 0), mint, name: `Token ${index}`, symbol: `T${index}`, uri },
      ...{ sellerFeeBasisPoints: 0, creators: [], primarySaleHappened: false, isMutable: true },
      ...{ tokenStandard: null, collection: null },
    } as never,
    { isPadded: false },
  );

const mintData = Buffer.alloc(82);
mintData.writeBigUInt64LE(1_000_000_000n, 36);
mintData.set([6, 1], 44);

function tokenAccount(mint: Address, owner: Address): Buffer {
  const data = Buffer.alloc(165);
  data.set(addressBytes(mint), 0);
  data.set(addressBytes(owner), 32);
  data.writeBigUInt64LE(1_500_000n, 64);
  data.writeUInt8(1, 108);
  return data;
}

const encoded = (owner: Address, data: Uint8Array) => ({
  ...{ lamports: 2_039_280, owner, executable: false, rentEpoch: 0, space: data.length },
  data: [Buffer.from(data).toString('base64'), 'base64'],
});

/**
 * A node on which each wallet holds some of many tokens, all with metadata at `uriOf`. Supports the methods that
 * all_tokens uses.
 */
export function startWalletNode(
  tokens: number,
  perWallet: number,
  uriOf: (token: number) => string,
): Promise<MockNode> {
  const accounts = new Map<Address, object>();
  const mints = Array.from({ length: tokens }, (_, index) => numbered(7, index));
  for (const [index, mint] of mints.entries()) {
    accounts.set(mint, encoded(programs.token, mintData));
    const seeds = [Buffer.from('metadata'), addressBytes(METADATA), addressBytes(mint)];
    const { address: metadata } = findProgramAddress(seeds, METADATA);
    accounts.set(metadata, encoded(METADATA, metadataOf(mint, index, uriOf(index))));
  }
  const held = (owner: Address) => {
    const first = Buffer.from(addressBytes(owner)).readUInt32BE(28) * perWallet;
    return Array.from({ length: perWallet }, (_, at) => {
      const mint = mints[(first + at * 37) % tokens]!;
      return { pubkey: numbered(8, first + at), account: encoded(programs.token, tokenAccount(mint, owner)) };
    });
  };
  const context = { slot: 1_000 };
  const answer = (method: string, params: readonly unknown[]): unknown => {
    if (method === 'getSlot') return context.slot;
    if (method === 'getHealth') return 'ok';
    if (method === 'getMultipleAccounts')
      return { context, value: (params[0] as readonly Address[]).map((one) => accounts.get(one) ?? null) };
    if (method !== 'getTokenAccountsByOwner') return null;
    const { programId } = params[1] as { programId: Address };
    return { context, value: programId === programs.token ? held(params[0] as Address) : [] };
  };
  return startMock(({ id, method, raw }, reply) => {
    const { params = [] } = JSON.parse(raw) as { params?: readonly unknown[] };
    send(reply, JSON.stringify({ jsonrpc: '2.0', id, result: answer(method, params) }));
  });
}
