import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as spl from '@solana/spl-token';
import { type Connection, PublicKey } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson, writeJson } from '../../src/base/json.ts';
import { address } from '../../src/solana/address.ts';
import { parseAccountData } from '../../src/solana/parsed/parse-account.ts';
import { lamports } from '../../src/solana/units.ts';

/** Needs ../shared/data/rest/metaplex: accounts of mainnet and devnet, data in base64. */
const file = join(import.meta.dirname, '../../../shared/data/rest/metaplex/accounts.json');

type Recorded = { pubkey: string; account: { owner: string; data: [string, 'base64'] } };
type Shown = { program: string; parsed: { type: string; info: Record<string, JsonValue> } } | null;

const recorded: Recorded[] = existsSync(file)
  ? Object.values(JSON.parse(readFileSync(file, 'utf8')) as Record<string, Recorded[]>).flat()
  : [];

function shown({ pubkey, account }: Recorded): Shown {
  const data = Buffer.from(account.data[0], 'base64');
  const held = {
    lamports: lamports(1),
    data,
    owner: address(account.owner),
    executable: false,
    rentEpoch: 0n,
  };
  const parsed = parseAccountData(address(pubkey), held, { mint: () => ({ decimals: 0 }) });
  return parseJson(writeJson(parsed)) as unknown as Shown;
}

const tokenPrograms = [spl.TOKEN_PROGRAM_ID, spl.TOKEN_2022_PROGRAM_ID].map(String);
const ofTokens = recorded.filter(({ account }) => tokenPrograms.includes(account.owner));
const text = (key: PublicKey | null): string | null => key?.toBase58() ?? null;

const infoOf = ({ account }: Recorded) => ({
  data: Buffer.from(account.data[0], 'base64'),
  owner: new PublicKey(account.owner),
  lamports: 1,
  executable: false,
});

function read(account: Recorded): [type: string, mint: spl.Mint | null] {
  const info = infoOf(account);
  try {
    return ['mint', spl.unpackMint(new PublicKey(account.pubkey), info, info.owner)];
  } catch {
    return ['account', null];
  }
}

/** Reads the recorded account with the published client. */
function metadataOf(account: Recorded): ReturnType<typeof spl.getTokenMetadata> {
  const info = infoOf(account);
  const node = { getAccountInfo: async () => info } as unknown as Connection;
  return spl.getTokenMetadata(node, new PublicKey(account.pubkey), 'confirmed', info.owner);
}

describe.skipIf(recorded.length === 0)('accounts of real ledgers (../shared/data, metaplex)', () => {
  it('of the token programs match their client', () => {
    for (const account of ofTokens) {
      const [type, mint] = read(account);
      const parsed = shown(account)?.parsed;
      expect([account.pubkey, parsed?.type]).toEqual([account.pubkey, type]);
      if (mint === null) continue;
      const { decimals, supply, mintAuthority, freezeAuthority } = mint;
      expect(parsed?.info).toMatchObject({
        decimals,
        supply: String(supply),
        mintAuthority: text(mintAuthority),
        freezeAuthority: text(freezeAuthority),
      });
      expect(((parsed?.info.extensions ?? []) as JsonValue[]).length).toBe(
        spl.getExtensionTypes(mint.tlvData).length,
      );
    }
    expect(ofTokens.length).toBeGreaterThan(20);
  });

  it('show Token-2022 metadata as its client reads it', async () => {
    let count = 0;
    for (const account of ofTokens) {
      const metadata = read(account)[1] && (await metadataOf(account));
      if (!metadata) continue;
      const { updateAuthority, mint, ...texts } = metadata;
      const extensions = shown(account)?.parsed.info.extensions as { extension: string; state: JsonValue }[];
      expect(extensions.find(({ extension }) => extension === 'tokenMetadata')?.state).toEqual({
        updateAuthority: text(updateAuthority ?? null),
        mint: text(mint),
        ...texts,
      });
      count++;
    }
    expect(count).toBeGreaterThan(0);
  });

  it('of other programs are unparsed', () => {
    const metadata = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s';
    const others = recorded.filter(({ account }) => account.owner === metadata);
    expect(others.map(shown)).toEqual(others.map(() => null));
    expect(others.length).toBeGreaterThan(5);
  });
});
