import type { Call, Network, RpcResponse, StandardNetwork } from '../protocol/call.ts';
import { methods } from '../protocol/methods.ts';

/** Source: Agave clusters, `getGenesisHash`. */
export const genesisHashes: Readonly<Record<StandardNetwork, string>> = {
  'mainnet-beta': '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxkrZBG',
  testnet: '4uhcVJyU9pJkvQyS88uRDiswHXSckY9JqEQoD8X6vWeX',
};

/** Genesis hash by network; custom networks may lack one. */
export type GenesisHashes = ReadonlyMap<Network, string>;

/** @param custom - genesis hash by custom network; empty: none. */
export const genesisHashesWith = (custom: Readonly<Record<string, string>>): GenesisHashes =>
  new Map(Object.entries({ ...genesisHashes, ...custom }).filter(([, hash]) => hash !== '')) as GenesisHashes;

const QUOTED_HASH = /^"([1-9A-HJ-NP-Za-km-z]{32,44})"$/;

export const genesisCall = (network: Network): Call => ({
  ...{ network, method: 'getGenesisHash', row: methods.getGenesisHash, params: null },
});

export const parseGenesisHash = ({ body, errorCode }: RpcResponse): string | null =>
  errorCode === 0 ? (QUOTED_HASH.exec(body.toString('latin1'))?.[1] ?? null) : null;
