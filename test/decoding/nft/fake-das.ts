import type { JsonValue, WritableJson } from '../../../src/base/json.ts';
import type { NftDas } from '../../../src/decoding/nft/nft.ts';
import type { Network } from '../../../src/protocol/call.ts';

type Params = { readonly [name: string]: WritableJson };

export const dasAsset = (id: string, owner: string, more: { [name: string]: JsonValue } = {}): JsonValue => ({
  interface: 'V1_NFT',
  id,
  content: {
    json_uri: `https://json/${id}`,
    files: [{ uri: 'https://files/1', mime: 'image/png' }],
    metadata: {
      name: 'Compressed',
      symbol: 'CNFT',
      description: 'Small',
      attributes: [{ trait_type: 'size', value: 'small' }],
      token_standard: 'NonFungible',
    },
    links: { image: 'https://image', external_url: 'https://site', animation_url: 'https://video' },
  },
  authorities: [{ address: owner, scopes: ['full'] }],
  compression: { compressed: true, tree: 'CnBt2TJrw1dXUBfVBf2Ah4Cz5s84jhBG7cejdPF19Eyh' },
  grouping: [],
  royalty: { basis_points: 250, primary_sale_happened: true },
  creators: [{ address: owner, share: 100, verified: true }],
  ownership: { owner },
  mutable: false,
  burnt: false,
  ...more,
});

export class FakeDas implements NftDas {
  readonly requests: (readonly [method: string, params: Params])[] = [];
  readonly #assets: readonly JsonValue[];
  readonly #pageMax: number;
  answering: (() => Promise<JsonValue>) | null = null;

  /** @param pageMax - assets per page, regardless of the requested limit. */
  constructor(assets: readonly JsonValue[], pageMax = 1_000) {
    this.#assets = assets;
    this.#pageMax = pageMax;
  }

  has(network: Network): boolean {
    return network === 'mainnet-beta';
  }

  async request(_network: Network, method: string, params: Params): Promise<JsonValue> {
    this.requests.push([method, params]);
    if (this.answering !== null) return this.answering();
    if (method === 'getAssetBatch') return (params.ids as string[]).map((id) => this.#byId(id));
    const limit = Math.min(params.limit as number, this.#pageMax);
    const owned = this.#assets.filter((asset) => {
      const { ownership, compression } = asset as { ownership: JsonValue; compression: JsonValue };
      const { compressed } = compression as { compressed: boolean };
      return (
        (ownership as { owner: string }).owner === params.ownerAddress &&
        compressed === (params.compressed ?? false)
      );
    });
    const start = ((params.page as number) - 1) * limit;
    const items = owned.slice(start, start + limit);
    return { total: items.length, limit, page: params.page as number, items };
  }

  #byId(id: string): JsonValue {
    return this.#assets.find((asset) => (asset as { id: string }).id === id) ?? null;
  }
}
