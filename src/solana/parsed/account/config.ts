import { ByteReader } from '../../../base/bytes.ts';
import { RawJson } from '../../../base/json.ts';
import { type Address, address } from '../../address.ts';
import { decodedOrNull } from '../../codec.ts';
import { readAddress, readBool, readCompactLength, readText } from '../bincode.ts';
import { reserialize } from '../serde-json.ts';
import type { AccountParts } from './parsed-account.ts';

/** First key of validator info accounts. Source: account-decoder/src/validator_info.rs */
const VALIDATOR_INFO: Address = address('Va1idator1nfo111111111111111111111111111111');

/**
 * Validator info, stored as JSON. The stake configuration is unparsed since Agave 4.1. Source:
 * account-decoder/src/parse_config.rs; layout from solana-config-interface, `ConfigKeys`.
 */
export function parseConfig(data: Uint8Array): AccountParts | null {
  return decodedOrNull(() => {
    const reader = new ByteReader(data);
    const keys = Array.from({ length: readCompactLength(reader) }, () => ({
      pubkey: readAddress(reader),
      signer: readBool(reader),
    }));
    if (keys[0]?.pubkey !== VALIDATOR_INFO) return null;
    const configData = new RawJson(reserialize(readText(reader)));
    return { type: 'validatorInfo', info: { configData, keys } };
  });
}
