import { ByteReader } from '../../../base/bytes.ts';
import { decodedOrNull } from '../../codec.ts';
import { readAddress, readOption } from '../bincode.ts';
import type { AccountParts } from './parsed-account.ts';

/** Data after the header: a program, or the part written so far. */
const rest = (data: ByteReader) => [Buffer.from(data.bytes(data.remaining)).toString('base64'), 'base64'];

function read(data: ByteReader): AccountParts | null {
  switch (data.u32()) {
    case 0:
      return { type: 'uninitialized' };
    case 1: {
      const authority = readOption(data, () => readAddress(data));
      return { type: 'buffer', info: { authority, data: rest(data) } };
    }
    case 2:
      return { type: 'program', info: { programData: readAddress(data) } };
    case 3: {
      const slot = data.u64();
      const authority = readOption(data, () => readAddress(data));
      return { type: 'programData', info: { slot, authority, data: rest(data) } };
    }
    default:
      return null;
  }
}

/**
 * Without an authority the code is read 32 bytes early, right after the option's tag, as nodes do. Source:
 * account-decoder/src/parse_bpf_loader.rs; layout from solana-loader-v3-interface.
 */
export function parseBpfUpgradeableLoader(data: Uint8Array): AccountParts | null {
  return decodedOrNull(() => read(new ByteReader(data)));
}
