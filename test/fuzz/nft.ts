import { parseJson, writeJson } from '../../src/base/json.ts';
import { decodeCoreAccount } from '../../src/decoding/nft/core-account.ts';
import { readDasAsset } from '../../src/decoding/nft/das-assets.ts';
import {
  decodeMetaplexEdition,
  decodeMetaplexMetadata,
  decodeTokenRecord,
  readToken2022Metadata,
} from '../../src/decoding/nft/metadata-accounts.ts';
import { readNftContent } from '../../src/decoding/nft/nft-content.ts';
import { showNft } from '../../src/decoding/nft/show-nft.ts';
import type { Address } from '../../src/solana/address.ts';
import {
  coreAssetData,
  coreCollectionData,
  editionData,
  metadataData,
  tokenRecordData,
} from '../decoding/nft/encode-accounts.ts';
import { dasAsset } from '../decoding/nft/fake-das.ts';
import { token2022Mint } from '../decoding/nft/token-2022-mint.ts';

export const from = "programs' accounts, DAS servers, and hosts of metadata";
export const covers = ['decoding/borsh.ts', 'decoding/nft/'];

const someone = 'SysvarC1ock11111111111111111111111111111111' as Address;

const decoders: readonly ((data: Uint8Array) => unknown)[] = [
  decodeMetaplexMetadata,
  decodeMetaplexEdition,
  (data) => decodeTokenRecord(someone, data),
  decodeCoreAccount,
  readToken2022Metadata,
];

const plugins = {
  royalties: { basisPoints: 5, creators: [{ address: someone, percentage: 100 }] },
  attributes: [{ trait: 'a', value: 'b' }],
  masterEdition: { maxSupply: 1, name: 'n', uri: 'u' },
  immutableMetadata: true,
} as const;

const offChain = {
  ...{ image: 'i', animation_url: 'a', description: 'd', external_url: 'e', collection: { name: 'n' } },
  attributes: [{ trait_type: '__proto__', value: 1 }],
  properties: { files: [{ uri: 'u', type: 't' }] },
};

/** One account of each kind, off-chain JSON, and an asset of DAS. */
export const seeds: readonly Uint8Array[] = [
  metadataData(
    {
      ...{
        updateAuthority: someone,
        mint: someone,
        name: 'n',
        symbol: 's',
        uri: 'u',
        sellerFeeBasisPoints: 5,
      },
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
];

const onChain = readDasAsset(dasAsset(someone, someone))?.onChain;

/** JSON of any shape is shown as an NFT that is JSON, or not read. */
function fuzzJson(input: Uint8Array): boolean {
  let json: ReturnType<typeof parseJson>;
  try {
    json = parseJson(Buffer.from(input).toString());
  } catch {
    return false;
  }
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

/** Whatever the bytes, an account of an NFT is read or not, and so is JSON. */
export function fuzz(input: Uint8Array): boolean {
  const read = decoders.map((decode) => decode(input)).some((value) => value !== null);
  return fuzzJson(input) || read;
}
