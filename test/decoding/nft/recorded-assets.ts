import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonValue, parseJson } from '../../../src/base/json.ts';
import type { Account } from '../../../src/solana/account/account.ts';
import type { Address } from '../../../src/solana/address.ts';
import { readAccount } from '../../../src/solana/encoding/ui-account.ts';

/** Accounts and DAS responses in ../shared/data/rest/metaplex; empty when absent. */
const folder = join(import.meta.dirname, '../../../../shared/data/rest/metaplex');
export const isRecorded = existsSync(folder);

const read = (file: string): JsonValue =>
  isRecorded ? parseJson(readFileSync(join(folder, file), 'utf8')) : {};

type RecordedAccount = { pubkey: Address; account: JsonValue };

const accounts = read('accounts.json') as unknown as Record<string, RecordedAccount[]>;

const recordedScenarios = Object.entries(accounts).map(
  ([scenario, recorded]) =>
    [scenario, recorded.map(({ pubkey, account }) => [pubkey, readAccount(account)] as const)] as const,
);

export const recordedAccounts: ReadonlyMap<Address, Account> = new Map(
  recordedScenarios.flatMap(([, recorded]) => recorded),
);

/** Members that the tests check. */
export type DasAsset = {
  interface: string;
  id: Address;
  content: { json_uri: string; metadata: { name: string; symbol: string; token_standard?: string } };
  authorities: { address: string }[];
  compression: { compressed: boolean; tree: string };
  grouping: { group_key: string; group_value: string }[];
  royalty: { basis_points: number; primary_sale_happened: boolean };
  creators: { address: string; share: number; verified: boolean }[];
  ownership: { owner: string };
  mutable: boolean;
  burnt: boolean;
  mint_extensions?: { metadata?: { update_authority: string } };
  plugins?: Record<string, { data: Record<string, JsonValue> }>;
};

const answers = read('das-answers.json') as Record<string, JsonValue>;

function assetsOf(answer: JsonValue): DasAsset[] {
  if (Array.isArray(answer)) return answer.flatMap((item) => (item === null ? [] : assetsOf(item)));
  const { items, id } = answer as { items?: JsonValue; id?: string };
  if (items !== undefined) return assetsOf(items);
  return id === undefined ? [] : [answer as unknown as DasAsset];
}

/** By `scenario: id`. */
export const recordedAssets: readonly (readonly [name: string, asset: DasAsset])[] = Object.entries(
  answers,
).flatMap(([scenario, answer]) =>
  assetsOf(answer).map((asset) => [`${scenario}: ${asset.id}`, asset] as const),
);
