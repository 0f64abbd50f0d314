import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseJson, writeJson } from '../../../src/base/json.ts';
import type { Nft } from '../../../src/decoding/nft/nft.ts';
import { readNftContent } from '../../../src/decoding/nft/nft-content.ts';
import { showNft } from '../../../src/decoding/nft/show-nft.ts';
import type { Address } from '../../../src/solana/address.ts';

/** Needs ../shared/data/rest/nft_read_all_and_all_tokens_2023.json: responses of 2023. */
const file = join(import.meta.dirname, '../../../../shared/data/rest/nft_read_all_and_all_tokens_2023.json');
const recorded: Nft[] = existsSync(file)
  ? (parseJson(readFileSync(file, 'utf8')) as unknown as { nft_read_all_result: Nft[] }).nft_read_all_result
  : [];

/** Decoder input that produces the recorded NFT. */
function shownAgain(nft: Nft): Nft {
  const json = {
    ...{ name: nft.name, description: nft.description, image: nft.image_uri },
    attributes: [...nft.attributes_array],
    properties: { files: [...nft.files] },
  };
  const onChain = {
    mint: nft.mint as Address,
    ...{ name: nft.name, symbol: nft.symbol, metadataUri: nft.metadata_uri },
    royaltyBasisPoints: nft.royalty * 100,
    owner: nft.owner as Address,
    updateAuthority: nft.update_authority as Address,
    creators: nft.creators,
    ...{ collection: null, traits: [] },
    primarySaleHappened: nft.primary_sale_happened,
    isMutable: nft.is_mutable,
    tokenStandard: nft.token_standard,
    ...{ merkleTree: null, isBurnt: false },
  };
  const content = readNftContent(parseJson(writeJson(json)));
  return showNft({ onChain, content, tokenAccount: null, tokenRecord: null }, content);
}

describe.skipIf(recorded.length === 0)('NFTs that the interface answered (../shared/data/rest)', () => {
  it('are rendered as recorded, with later additions', () => {
    for (const nft of recorded) expect(shownAgain(nft)).toEqual({ ...nft, is_burnt: false });
    expect(recorded).toHaveLength(2);
  });

  it('have their members in the order of the newer recording', () => {
    const names = Object.keys(recorded[1]!);
    expect(Object.keys(shownAgain(recorded[1]!))).toEqual([...names, 'is_burnt']);
  });
});
