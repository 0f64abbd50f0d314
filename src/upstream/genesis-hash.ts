import type { Call, Network, RpcResponse } from '../protocol/call.ts';
import { methods } from '../protocol/methods.ts';

/** Source: Agave clusters, `getGenesisHash`. */
export const genesisHashes: Readonly<Record<Network, string>> = {
  'mainnet-beta': '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxkrZBG',
  testnet: '4uhcVJyU9pJkvQyS88uRDiswHXSckY9JqEQoD8X6vWeX',
};

const QUOTED_HASH = /^"([1-9A-HJ-NP-Za-km-z]{32,44})"$/;

export const genesisCall = (network: Network): Call => ({
  ...{ network, method: 'getGenesisHash', row: methods.getGenesisHash, params: null },
});

export const parseGenesisHash = ({ body, errorCode }: RpcResponse): string | null =>
  errorCode === 0 ? (QUOTED_HASH.exec(body.toString('latin1'))?.[1] ?? null) : null;
