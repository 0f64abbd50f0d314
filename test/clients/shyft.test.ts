import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Keypair, LAMPORTS_PER_SOL, Transaction } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLocalNode } from '../../packages/localnet/src/genesis/open.ts';
import type { Address } from '../../src/solana/address.ts';
import { domain, favourite, keyOf, mintOf, tokenized } from '../rest-api/sns-accounts.ts';
import { coreAsset, heldNft, heldToken, numbered } from '../rest-api/token-fixtures.ts';
import { temporaryFolder } from '../service/program.ts';
import { FundedService } from './funded-service.ts';

/**
 * The published @shyft-to/js against the whole service, with preloaded tokens, domains and NFTs. The client's host is
 * fixed, so its axios is redirected. Its package must be loaded as CommonJS. Source: rest-api.md §1.
 */
const load = createRequire(import.meta.url);
const { ShyftSdk, Network } = load('@shyft-to/js') as typeof import('@shyft-to/js');
type Config = { baseURL?: string };
type Group = Readonly<{ nfts: readonly Readonly<{ mint: string }>[] }>;
type Axios = { interceptors: { request: { use(change: (config: Config) => Config): void } } };
const axios = createRequire(load.resolve('@shyft-to/js'))('axios') as Axios;

const NETWORK = Network.Mainnet;
const RECEIVER = Keypair.generate().publicKey;

/** Owner of the preloaded domains and NFTs. */
const collector = Keypair.generate().publicKey.toBase58() as Address;
/** Owner of the preloaded token. */
const saver = Keypair.generate().publicKey.toBase58() as Address;
const token = numbered(1, 4);
const artist = Keypair.generate().publicKey.toBase58() as Address;
const placed = {
  ...{ collection: numbered(1, 1), member: numbered(1, 2), claims: numbered(1, 3) },
  core: Keypair.generate().publicKey.toBase58() as Address,
};

let funded: FundedService;
let hosts: Server;
let shyft: InstanceType<typeof ShyftSdk>;
let wallet: string;
let sent: string;
let folder: string;

/** Domains, one of them the main domain of its owner, tokens, and Metaplex and MPL Core NFTs. */
const placedAccounts = () => {
  const of = (verified: boolean) => ({ collection: { address: placed.collection, verified } });
  const said = { royalty: 500, creators: [artist], updateAuthority: artist };
  const ofToken = { name: 'Solway Test', symbol: 'SLWT', uri: `${folder}/token.json` };
  const issued = {
    amount: 1n,
    decimals: 0,
    metadataFields: { name: 'Foxes', symbol: 'FOX', standard: 0 },
  } as const;
  return [
    ...domain('solway', collector),
    ...domain('zebra', collector),
    ...tokenized('token', collector),
    favourite(collector, 'zebra'),
    ...heldToken(1, artist, issued),
    ...heldToken(4, saver, { amount: 12_345_678n, decimals: 6, metadataFields: ofToken }),
    ...heldNft(2, collector, { ...said, ...of(true), uri: `${folder}/fox.json` }),
    ...heldNft(3, collector, of(false)),
    coreAsset(placed.core, collector, `${folder}/core.json`),
  ];
};

beforeAll(async () => {
  const documents: Record<string, () => object> = {
    '/token.json': () => ({ image: `${folder}/token.png` }),
    '/fox.json': () => ({
      description: 'The first one',
      image: `${folder}/fox.png`,
      attributes: [{ trait_type: 'colour', value: 'sea' }],
      collection: { name: 'Foxes', family: 'Animals' },
    }),
    '/core.json': () => ({ image: `${folder}/core.png` }),
  };
  hosts = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(documents[request.url ?? '']?.() ?? null));
  });
  await new Promise<void>((resolve) => hosts.listen(0, '127.0.0.1', resolve));
  const { port } = hosts.address() as AddressInfo;
  folder = `http://127.0.0.1:${port}`;
  const rest = `[off_chain]\nallow_networks = ["127.0.0.1/32"]\nports = [${port}]\n`;
  const dataDir = temporaryFolder('placed');
  const accounts = placedAccounts();
  await (await openLocalNode({ ledgerDir: join(dataDir, 'ledger'), manual: true, accounts })).stop();
  funded = await FundedService.start(50, rest, dataDir);
  const { service, payer } = funded;
  axios.interceptors.request.use((config) => ({
    ...config,
    baseURL: (config.baseURL ?? '').replace('https://api.shyft.to', service.ready.url),
  }));
  shyft = new ShyftSdk({ apiKey: service.key, network: NETWORK });
  wallet = payer.publicKey.toBase58();
  const transfer = await funded.transfer(RECEIVER, LAMPORTS_PER_SOL / 4);
  sent = await funded.confirmed(transfer);
  await funded.finalized(sent);
}, 60_000);

afterAll(async () => {
  await funded?.stop();
  hosts?.close();
});

describe('the client’s wallet', () => {
  it('reads a balance in SOL', async () => {
    expect(await shyft.wallet.getBalance({ wallet: RECEIVER.toBase58() })).toBe(0.25);
  });

  it('reads a single token with its metadata, and all', async () => {
    const held = { address: token, balance: 12.345678, associated_account: numbered(2, 4) };
    const info = { name: 'Solway Test', symbol: 'SLWT', image: `${folder}/token.png` };
    const one = await shyft.wallet.getTokenBalance({ wallet: saver, token });
    expect(one).toEqual({ ...held, info, isFrozen: false });
    const all = await shyft.wallet.getAllTokenBalance({ wallet: saver });
    const more = { isFrozen: false, is_image_loading: false };
    expect(all).toEqual([{ ...held, info: { ...info, decimals: 6 }, ...more }]);
  });

  it('reads domains and the main domain of a wallet', async () => {
    const { wallet: reader } = shyft;
    expect(await reader.getDomains({ wallet: collector })).toEqual(
      ['solway', 'token', 'zebra'].map((name) => ({ address: keyOf(name).toBase58(), name: `${name}.sol` })),
    );
    expect(await reader.resolveDomainByAddress({ address: collector })).toBe('zebra.sol');
    expect(await reader.resolveDomainByAddress({ address: keyOf('solway').toBase58() })).toBe('solway.sol');
  });

  it('reads collections and counts only verified members', async () => {
    // The client's type is a single group, but the value is the list of groups.
    const collections = (await shyft.wallet.collections({ wallet: collector })) as unknown as Group[];
    const [verified, others] = collections;
    expect(collections).toHaveLength(2);
    expect(verified).toMatchObject({
      ...{ address: placed.collection, name: 'Foxes', family: 'Animals', nft_count: 1 },
      nfts: [{ mint: placed.member, collection: { address: placed.collection, verified: true } }],
    });
    expect(others).toMatchObject({ name: '', nft_count: 3 });
    expect(others).not.toHaveProperty('address');
    expect(others?.nfts.map(({ mint }) => mint)).toEqual(
      [placed.claims, placed.core, mintOf('token')].toSorted(),
    );
  });

  it('builds a transfer that the wallet signs and the client sends', async () => {
    const encoded = await shyft.wallet.sendSol({
      fromAddress: wallet,
      toAddress: RECEIVER.toBase58(),
      amount: 0.5,
    });
    const transaction = Transaction.from(Buffer.from(encoded, 'base64'));
    transaction.sign(funded.payer);
    const signature = await shyft.transaction.send({
      encodedTransaction: transaction.serialize().toString('base64'),
    });
    await funded.finalized(signature);
    expect(await shyft.wallet.getBalance({ wallet: RECEIVER.toBase58() })).toBe(0.75);
  });
});

describe('the client’s NFTs', () => {
  it('are read by mint: one of a verified collection and one of MPL Core', async () => {
    const fox = await shyft.nft.getNftByMint({ mint: placed.member });
    expect(fox).toMatchObject({
      ...{ name: 'NFT 2', mint: placed.member, owner: collector, royalty: 5, update_authority: artist },
      ...{ token_standard: 'NonFungible', image_uri: `${folder}/fox.png`, is_loaded_metadata: true },
      creators: [{ address: artist, share: 100, verified: true }],
      collection: { address: placed.collection, verified: true, name: 'Foxes', family: 'Animals' },
      ...{ description: 'The first one', attributes: { colour: 'sea' } },
    });
    expect(await shyft.nft.getNftByMint({ mint: placed.core })).toMatchObject({
      ...{ name: 'Core asset', mint: placed.core, owner: collector, update_authority: collector },
      ...{ image_uri: `${folder}/core.png`, is_compressed: false, is_burnt: false },
    });
  });

  it('are read by wallet, all kinds, with pagination', async () => {
    const all = [placed.member, placed.claims, placed.core, mintOf('token')].toSorted();
    const [first, second] = await Promise.all(
      [1, 2].map((page) => shyft.nft.getNftsByOwnerV2({ owner: collector, page, size: 3 })),
    );
    expect(first).toMatchObject({ total_count: 4, page: 1, size: 3, total_pages: 2 });
    expect(first?.nfts.map(({ mint }) => mint)).toEqual(all.slice(0, 3));
    expect(second?.nfts.map(({ mint }) => mint)).toEqual(all.slice(3));
  });

  it('are read by several mints, and by wallet in the first API version', async () => {
    const mints = [placed.member, RECEIVER.toBase58()];
    const several = await shyft.nft.getNftsByMintAddresses({ mints });
    expect(several.map((one) => one.mint)).toEqual([placed.member]);
    expect(await shyft.nft.getNftByOwner({ owner: collector })).toHaveLength(4);
  });
});

it('the client reads a token', async () => {
  expect(await shyft.token.getInfo({ tokenAddress: token })).toMatchObject({
    name: 'Solway Test',
    symbol: 'SLWT',
    address: token,
    current_supply: 12.345678,
    decimals: 6,
    image: `${folder}/token.png`,
  });
});

describe('the client’s transactions', () => {
  it('are parsed: one, a list, and the history, with the raw transaction on request', async () => {
    const parsed = await shyft.transaction.parsed({ txnSignature: sent });
    expect(parsed).toMatchObject({
      type: 'SOL_TRANSFER',
      status: 'Success',
      fee: 0.000005,
      fee_payer: wallet,
      actions: [
        { info: { sender: wallet, receiver: RECEIVER.toBase58(), amount: 0.25, amount_raw: 250_000_000 } },
      ],
    });
    const list = await shyft.transaction.parseSelected({ transactionSignatues: [sent], enableRaw: true });
    expect(list).toMatchObject([{ type: 'SOL_TRANSFER', raw: { transaction: { signatures: [sent] } } }]);
    const history = await shyft.transaction.history({
      account: RECEIVER.toBase58(),
      txNum: 10,
      enableEvents: true,
    });
    expect(history.at(-1)).toMatchObject({ signatures: [sent], events: [] });
    const raw = await shyft.transaction.raw({ txnSignature: sent });
    expect(raw).toMatchObject({ transaction: { signatures: [sent] }, parsed: { type: 'SOL_TRANSFER' } });
  });

  it('are sent in bulk, and their status is reported at the requested commitment', async () => {
    const transfers = await Promise.all([1, 2, 3].map((lamports) => funded.transfer(RECEIVER, lamports)));
    const broken = Buffer.from((transfers[0] as Transaction).serialize());
    broken[70] = (broken[70] as number) ^ 1;
    const encodedTransactions = [...transfers.map((one) => one.serialize()), broken].map((one) =>
      Buffer.from(one).toString('base64'),
    );
    const results = await shyft.transaction.sendMany({
      encodedTransactions,
      commitment: 'confirmed' as never,
    });
    expect(results.slice(0, 3)).toMatchObject([1, 2, 3].map((id) => ({ id, status: 'confirmed' })));
    expect(results[3]).toMatchObject({ id: 4, status: null, error: { code: expect.any(Number) } });
  });
});

describe('the client’s storage', () => {
  it('stores a file and returns it under its CID', async () => {
    const { cid, uri } = await shyft.storage.uploadAsset({
      file: Buffer.from('hello world\n') as unknown as File,
    });
    expect(cid).toBe('bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4');
    expect(await (await fetch(uri)).text()).toBe('hello world\n');
  });

  it('creates metadata', async () => {
    const { uri } = await shyft.storage.createMetadata({
      creator: wallet,
      image: `${folder}/nft.png`,
      name: 'Made',
      symbol: 'MD',
      description: 'Made here',
      attributes: [{ trait_type: 'colour', value: 'sea' }],
      sellerFeeBasisPoints: 500,
    });
    expect(await (await fetch(uri)).json()).toEqual({
      name: 'Made',
      symbol: 'MD',
      description: 'Made here',
      seller_fee_basis_points: 500,
      external_url: '',
      image: `${folder}/nft.png`,
      attributes: [{ trait_type: 'colour', value: 'sea' }],
      properties: { creators: [{ address: wallet, verified: true, share: 100 }] },
    });
  });
});

describe('the client’s semi-custodial wallets', () => {
  it('are created and decrypted, and their password is changed', async () => {
    const { semiCustodialWallet } = shyft;
    const walletAddress = await semiCustodialWallet.create({ password: 'correct horse' });
    const pair = await semiCustodialWallet.getKeypair({ password: 'correct horse', walletAddress });
    expect(pair.publicKey).toBe(walletAddress);
    await expect(semiCustodialWallet.getKeypair({ password: 'wrong horse', walletAddress })).rejects.toThrow(
      'Incorrect password',
    );
    const change = { currentPassword: 'correct horse', newPassword: 'battery staple', walletAddress };
    expect(await semiCustodialWallet.changePassword(change)).toBe(true);
    const again = await semiCustodialWallet.getKeypair({ password: 'battery staple', walletAddress });
    expect(again.secretKey).toBe(pair.secretKey);
  });
});

it('the client receives clear error messages', async () => {
  await expect(shyft.wallet.getBalance({ wallet: 'nobody' })).rejects.toThrow(
    'wallet must be an address: 32 bytes in base58',
  );
  const stranger = new ShyftSdk({ apiKey: 'svc_rpc_live_nobody', network: NETWORK });
  await expect(stranger.wallet.getBalance({ wallet })).rejects.toThrow('The API key is invalid');
});
