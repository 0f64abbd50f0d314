import { createHash } from 'node:crypto';
import { parseJson, writeJson } from '../../../src/base/json.ts';
import { decodeCoreAccount } from '../../../src/decoding/nft/core-account.ts';
import { readDasAsset } from '../../../src/decoding/nft/das-assets.ts';
import {
  decodeMetaplexEdition,
  decodeMetaplexMetadata,
  decodeTokenRecord,
  readToken2022Metadata,
} from '../../../src/decoding/nft/metadata-accounts.ts';
import { metadataProgram } from '../../../src/decoding/nft/metaplex-addresses.ts';
import { readNftContent } from '../../../src/decoding/nft/nft-content.ts';
import { showNft } from '../../../src/decoding/nft/show-nft.ts';
import { isDomainMint, nameOfNft } from '../../../src/decoding/sns/domains.ts';
import {
  decodeFavorite,
  decodeNameAccount,
  decodeReverseName,
  snsPrograms,
} from '../../../src/decoding/sns/name-account.ts';
import { parseTokenList, TokenListError } from '../../../src/decoding/token/token-list.ts';
import { mintExtensions, tokenMintOf, uiAmountOfMint } from '../../../src/decoding/token/token-mint.ts';
import { instructionDiscriminator } from '../../../src/decoding/transaction/events/layout.ts';
import type { ExecutedTransaction } from '../../../src/decoding/transaction/executed-transaction.ts';
import { nftPrograms } from '../../../src/decoding/transaction/nft/nft-programs.ts';
import { attributesFilter, matchesAttributes, royaltyFilter } from '../../../src/rest-api/nft/nft-filters.ts';
import type { Account } from '../../../src/solana/account/account.ts';
import { type Address, address, addressBytes, addressFromBytes } from '../../../src/solana/address.ts';
import { decodeAddressLookupTable } from '../../../src/solana/address-lookup-table.ts';
import { blockhashFromBytes } from '../../../src/solana/blockhash.ts';
import { encodeParsedInstruction } from '../../../src/solana/encoding/ui-instruction.ts';
import { mintTokenAmount } from '../../../src/solana/encoding/ui-token-amount.ts';
import { decodeNonce, encodeNonce } from '../../../src/solana/nonce.ts';
import { parseAccountData } from '../../../src/solana/parsed/parse-account.ts';
import { parseInstruction } from '../../../src/solana/parsed/parse-instruction.ts';
import { nativeMint, programs, sysvarOwner, sysvars } from '../../../src/solana/programs.ts';
import { decodeStakeState, encodeStakeState } from '../../../src/solana/stake-state.ts';
import * as sysvarDecoders from '../../../src/solana/sysvars.ts';
import { decodeMintScale, readExtensions } from '../../../src/solana/token/extensions.ts';
import * as tokenDecoders from '../../../src/solana/token/token-state.ts';
import { lamports, U64_MAX } from '../../../src/solana/units.ts';
import { decodeVoteState, encodeVoteState, NO_PRIOR_VOTERS } from '../../../src/solana/vote-state.ts';
import {
  coreAssetData,
  coreCollectionData,
  editionData,
  metadataData,
  tokenRecordData,
} from '../../decoding/nft/encode-accounts.ts';
import { dasAsset } from '../../decoding/nft/fake-das.ts';
import { token2022Mint } from '../../decoding/nft/token-2022-mint.ts';
import { accepted, jsonIn, type Target, texts } from '../engine/target.ts';

type Decode = (data: Uint8Array) => unknown;

const decoders: readonly Decode[] = [
  ...[decodeAddressLookupTable, decodeNonce, decodeStakeState, decodeVoteState],
  ...[...Object.entries(sysvarDecoders), ...Object.entries(tokenDecoders)].flatMap(([name, decode]) =>
    name.startsWith('decode') ? [decode as Decode] : [],
  ),
];

const accountOf = (owner: Address, data: Uint8Array): Account => ({
  ...{ lamports: lamports(1), data, owner, executable: false, rentEpoch: 0n },
});
const someone = address('SysvarC1ock11111111111111111111111111111111');

const initializedMint = Uint8Array.from({ length: 82 }, (_, at) => (at === 45 ? 1 : 0));
const initializedAccount = Uint8Array.from({ length: 165 }, (_, at) => (at === 108 ? 1 : 0));
const extendedAccount = Uint8Array.from([...initializedAccount, 2, 7, 0, 0, 0, 1, 0, 2, 0, 9, 9]);

export const accountStateTarget: Target = {
  seeds: [
    initializedMint,
    initializedAccount,
    extendedAccount,
    Uint8Array.from({ length: 355 }, (_, at) => (at < 3 ? 1 : 5)),
    Uint8Array.from({ length: 56 + 64 }, (_, at) => (at === 0 ? 1 : 0)),
    encodeNonce({
      version: 'current',
      data: {
        authority: someone,
        durableNonce: blockhashFromBytes(new Uint8Array(32)),
        lamportsPerSignature: 5000n,
      },
    }),
    encodeStakeState({ type: 'uninitialized' }),
    encodeVoteState({
      version: 'V3',
      node: someone,
      authorizedWithdrawer: someone,
      commission: 10,
      votes: [{ latency: 1, slot: 5n, confirmationCount: 1 }],
      rootSlot: 4n,
      authorizedVoters: [{ epoch: 0n, voter: someone }],
      priorVoters: NO_PRIOR_VOTERS,
      epochCredits: [{ epoch: 0n, credits: 2n, previousCredits: 1n }],
      lastTimestamp: { slot: 5n, timestamp: 1n },
    }),
  ],
  /** Every decoder returns a value or null. */
  fuzz(input: Uint8Array): boolean {
    readExtensions(input);
    return decoders.map((decode) => decode(input)).some((value) => value !== null);
  },
};

const keys = [...Object.values(programs), ...Object.values(sysvars)];
const validatorInfo = address('Va1idator1nfo111111111111111111111111111111');
const stakeProgram = address('Stake11111111111111111111111111111111111111');
const owners = [...Object.values(programs), sysvarOwner];

const onThree = (programId: Address, ...data: number[]): Uint8Array =>
  Uint8Array.of(3, keys.indexOf(programId), 1, 2, 3, ...data);

/** The discriminator of an interface instruction. */
const tagOf = (name: string): Uint8Array => createHash('sha256').update(name).digest().subarray(0, 8);

function mintWith(type: number, length: number): Uint8Array {
  const mint = new Uint8Array(170 + length);
  mint.set([1], 45);
  mint.set([1, type, 0, length], 165);
  return mint;
}

/** The first byte is the number of account indexes, the second selects the program; the rest is data. */
function fuzzInstruction(input: Uint8Array): boolean {
  const count = (input[0] ?? 0) % 12;
  const programIdIndex = (input[1] ?? 0) % keys.length;
  const programId = keys[programIdIndex] ?? stakeProgram;
  const instruction = {
    programIdIndex,
    accounts: input.subarray(2, 2 + count),
    data: input.subarray(2 + count),
  };
  parseJson(writeJson(encodeParsedInstruction(instruction, keys, 1)));
  return parseInstruction(programId, instruction, keys) !== null;
}

function fuzzAccount(data: Uint8Array): boolean {
  const scale = decodeMintScale(data) ?? { decimals: data[0] ?? 0 };
  const lookup = { mint: () => scale, unixTimestamp: BigInt(data.length) << 20n };
  if (scale.interestBearing ?? scale.scaledUiAmount) {
    parseJson(writeJson(mintTokenAmount(2n ** 64n - 1n, scale, lookup.unixTimestamp)));
  }
  let parsed = false;
  for (const owner of owners) {
    const account = accountOf(owner, data);
    const addresses = owner === sysvarOwner ? Object.values(sysvars) : [stakeProgram];
    for (const at of addresses) {
      const shown = parseAccountData(at, account, lookup);
      if (shown === null) continue;
      parsed = true;
      parseJson(writeJson(shown));
    }
  }
  return parsed;
}

const MINT = programs.vote;

/** Amounts are finite and extensions are JSON. */
function fuzzMint(data: Uint8Array): void {
  const token = tokenMintOf(MINT, new Map([[MINT, accountOf(programs.token2022, data)]]));
  if (token === null) return;
  for (const amount of [0n, 1n, U64_MAX, U64_MAX * 10_000n])
    for (const now of [undefined, 0n, 1_700_000_000n])
      if (!Number.isFinite(uiAmountOfMint(amount, token, now))) throw new Error('an amount is not finite');
  parseJson(writeJson(mintExtensions(token.data)));
}

export const parsedTarget: Target = {
  seeds: [
    ...accountStateTarget.seeds,
    onThree(programs.system, 2, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0),
    onThree(programs.token, 12, 9, 0, 0, 0, 0, 0, 0, 0, 6),
    onThree(programs.token2022, 255, 3, 9, 3, 5, 0, 0, 0, 0, 0, 0, 0),
    onThree(programs.token2022, 27, 7, ...new Uint8Array(167)),
    onThree(programs.token2022, 37, 2, 1, 0, ...new Uint8Array(36)),
    onThree(programs.token2022, 42, 1, ...new Uint8Array(33)),
    onThree(programs.token2022, 46, 3, ...new Uint8Array(167)),
    onThree(programs.token2022, 33, 0, ...new Uint8Array(34)),
    onThree(programs.token2022, 33, 1, 5, 0),
    onThree(programs.token, 6, 2, 0),
    onThree(programs.token2022, 21, 3, 0, 9, 0),
    ...['metadata_interface:initialize_account', 'group_interface:initialize_token_group'].map((name) =>
      onThree(programs.token2022, ...tagOf(`spl_token_${name}`), ...new Uint8Array(40)),
    ),
    onThree(programs.bpfLoader2, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 8, 9),
    onThree(programs.vote, 8, 0, 0, 0, ...new Uint8Array(60)),
    Uint8Array.of(1, ...addressBytes(validatorInfo), 0, 9, ...new Uint8Array(7), ...Buffer.from('{"a":[1]}')),
    mintWith(1, 108),
    mintWith(4, 65),
    mintWith(10, 52),
    mintWith(16, 129),
    mintWith(19, 80),
    mintWith(24, 196),
    mintWith(25, 56),
    onThree(programs.vote, 1, 0, 0, 0, ...new Uint8Array(32), 2, 0, 0, 0, ...new Uint8Array(144)),
    onThree(programs.vote, 16, 0, 0, 0, ...new Uint8Array(244)),
    onThree(programs.vote, 14, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 3, 1, ...new Uint8Array(65)),
    onThree(programs.stake, 6, 0, 0, 0, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    onThree(programs.addressLookupTable, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, ...new Uint8Array(32)),
  ],
  /** An instruction and an account become valid JSON or are not parsed. */
  fuzz(input: Uint8Array): boolean {
    const instruction = fuzzInstruction(input);
    fuzzMint(input);
    return fuzzAccount(input) || instruction;
  },
};

const snsAccountsOwners = [snsPrograms.names, snsPrograms.offers, programs.token, metadataProgram];

const header = Buffer.alloc(96, 1);

export const snsAccountsTarget: Target = {
  /** A reverse lookup account, a favorite domain account, and metadata up to the name. */
  seeds: [
    Buffer.concat([header, Buffer.from([3, 0, 0, 0]), Buffer.from('abc')]),
    Buffer.alloc(33, 7),
    Buffer.concat([Buffer.from([4]), Buffer.alloc(64), Buffer.from([4, 0, 0, 0]), Buffer.from('ab\0\0')]),
  ],
  /** Accounts of the name service are decoded or refused. */
  fuzz(data: Uint8Array): boolean {
    const read = snsAccountsOwners.flatMap((owner) => {
      const account = accountOf(owner, data);
      const decoders = [decodeNameAccount, decodeReverseName, decodeFavorite, nameOfNft];
      return [...decoders.map((decode) => decode(account)), isDomainMint(account) || null];
    });
    return read.some((value) => value !== null);
  },
};

const entry = { address: nativeMint, name: 'Wrapped SOL', symbol: 'SOL', logoURI: 'https://a.example/i.png' };

export const tokenListTarget: Target = {
  seeds: [
    [],
    [entry],
    [entry, { ...entry, address: programs.token, logoURI: null, tags: ['verified'] }],
    [entry, entry],
  ].map((list) => Buffer.from(JSON.stringify(list))),
  /** A file is rejected, or becomes a list that finds its tokens. */
  fuzz(bytes: Uint8Array): boolean {
    const text = Buffer.from(bytes).toString();
    return accepted(() => {
      const list = parseTokenList(text);
      const entries = JSON.parse(text) as { address: typeof nativeMint }[];
      if (list.size !== entries.length || entries.some(({ address }) => list.find(address) === null))
        throw new Error('a token of the list is not found');
    }, TokenListError);
  },
};

const nftDecoders: readonly ((data: Uint8Array) => unknown)[] = [
  decodeMetaplexMetadata,
  decodeMetaplexEdition,
  (data) => decodeTokenRecord(someone, data),
  decodeCoreAccount,
  readToken2022Metadata,
];

const plugins = {
  royalties: { basisPoints: 5, creators: [{ address: someone, percentage: 100 }] },
  attributes: [{ trait: 'a', value: 'b' }],
  immutableMetadata: true,
} as const;

const offChain = {
  ...{ image: 'i', animation_url: 'a', description: 'd', external_url: 'e', collection: { name: 'n' } },
  attributes: [{ trait_type: '__proto__', value: 1 }],
  properties: { files: [{ uri: 'u', type: 't' }] },
};

const onChain = readDasAsset(dasAsset(someone, someone))?.onChain;

/** Any JSON is rendered as an NFT in valid JSON, or rejected. */
function fuzzJson(input: Uint8Array): boolean {
  const json = jsonIn(input);
  if (json === undefined) return false;
  const asset = readDasAsset(json);
  const content = readNftContent(json);
  const rest = { content: null, tokenAccount: null, tokenRecord: null };
  for (const chain of [asset?.onChain, onChain]) {
    if (chain === undefined) continue;
    const nft = { ...rest, onChain: chain };
    parseJson(writeJson(showNft(nft, asset?.content ?? content)));
  }
  return asset !== null || content !== null;
}

export const nftTarget: Target = {
  /** One account of each kind, off-chain JSON, and an asset of DAS. */
  seeds: [
    metadataData(
      {
        ...{ updateAuthority: someone, mint: someone, name: 'n', symbol: 's', uri: 'u' },
        sellerFeeBasisPoints: 5,
        creators: [{ address: someone, share: 100, verified: true }],
        ...{ primarySaleHappened: false, isMutable: true, tokenStandard: 'NonFungible' },
        collection: { address: someone, verified: true },
      },
      { isPadded: false },
    ),
    editionData({ type: 'master', supply: 1n, maxSupply: 2n }),
    tokenRecordData({
      ...{ address: someone, key: 'TokenRecord', state: 'Listed', rule_set_revision: 1n, delegate: someone },
      ...{ token_delegate_role: 'Sale', locked_transfer: someone },
    }),
    coreAssetData({
      ...{ type: 'asset', owner: someone, updateAuthority: null, collection: someone, name: 'n', uri: 'u' },
      plugins,
    }),
    coreCollectionData({
      ...{ type: 'collection', updateAuthority: someone, name: 'n', uri: 'u', numMinted: 1, currentSize: 1 },
      plugins,
    }),
    token2022Mint({ mint: someone, group: someone, additionalMetadata: [['k', 'v']] }),
    Buffer.from(writeJson(offChain)),
    Buffer.from(writeJson(dasAsset(someone, someone))),
  ],
  /** Any bytes are decoded as an NFT account or as JSON, or rejected. */
  fuzz(input: Uint8Array): boolean {
    const read = nftDecoders.map((decode) => decode(input)).some((value) => value !== null);
    return fuzzJson(input) || read;
  },
};

const attributes = attributesFilter();
const royalty = royaltyFilter();
const values = { energy: '10', level: 7n, kind: 'even', shiny: true, none: null };

export const nftFiltersTarget: Target = {
  seeds: texts([
    '{"energy":{"gte":"10","lt":1e3},"kind":"even"}',
    '{"level":{"gt":5},"__proto__":{"lte":".5"}}',
    '{"gte":5,"lte":10}',
    '5.55',
    '"7"',
  ]),
  /** Any filter input becomes a boolean test, or an issue with a message. */
  fuzz(bytes: Uint8Array): boolean {
    const text = Buffer.from(bytes).toString();
    const [byTrait, byRoyalty] = [attributes.safeParse(text), royalty.safeParse(text)];
    for (const { error } of [byTrait, byRoyalty]) {
      if (error && !error.issues[0]?.message) throw new Error('a problem without words');
    }
    if (byTrait.data && typeof matchesAttributes(values, byTrait.data) !== 'boolean')
      throw new Error('no answer');
    if (byRoyalty.data && typeof byRoyalty.data(5) !== 'boolean') throw new Error('no answer');
    return byTrait.success || byRoyalty.success;
  },
};

/** Instruction readers of NFT programs: they return actions or null for any bytes and accounts. */
const nftInstructionPrograms = [...nftPrograms.entries()];
const addresses = Array.from({ length: 256 }, (_, seed) => addressFromBytes(new Uint8Array(32).fill(seed)));

/** The first byte selects the program, the second is the number of accounts; the rest is data. */
const named = (program: number, name: string): Uint8Array =>
  Uint8Array.of(program, 30, ...Buffer.from(instructionDiscriminator(name), 'hex'), ...new Uint8Array(160));

const names = [
  ...['mint_v1', 'mint_v2', 'transfer_v2', 'burn_v2', 'create_tree', 'sell', 'buy', 'buy_v2', 'cancel'],
  'list',
  ...['execute_sale', 'execute_partial_sale', 'execute_sale_v2', 'mip1_sell', 'bid', 'edit', 'buy_spl'],
  ...['take_bid_meta_hash', 'buy_nft', 'list_wns', 'sol_fulfill_buy', 'withdraw_from_treasury'],
];

export const nftInstructionTarget: Target = {
  seeds: [
    ...nftInstructionPrograms.flatMap((_, program) => names.map((name) => named(program, name))),
    ...Array.from({ length: 58 }, (_, number) => Uint8Array.of(0, 20, number)),
  ],
  /** Feeds one instruction to the reader of its program. */
  fuzz(input: Uint8Array): boolean {
    const [at = 0, count = 0] = input;
    const [program, { read }] = nftInstructionPrograms[
      at % nftInstructionPrograms.length
    ] as (typeof nftInstructionPrograms)[number];
    const data = input.subarray(2);
    const position = { index: 0, outer: 0, height: 1, parentProgram: null, caller: null, parsed: null };
    const accounts = addresses.slice(at, at + (count % 40));
    const instruction = { ...position, program, accounts, data };
    const inner = { ...instruction, index: 1, height: 2, caller: 0 };
    const transaction: ExecutedTransaction = {
      ...{ slot: 0n, blockTime: null, signatures: [], feePayer: program, signers: [], fee: 0n, err: null },
      ...{ accountKeys: [], preBalances: [], postBalances: [], logs: [] },
      ...{ instructions: [instruction, inner], tokenAccounts: new Map(), decimals: new Map() },
    };
    const reported = read(instruction, transaction);
    for (const { info } of reported ?? []) writeJson(info);
    return reported !== null;
  },
};
