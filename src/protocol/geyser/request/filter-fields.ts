import { type Address, type AddressFault, parseAddress } from '../../../solana/address.ts';
import { parseSignature, type Signature, type SignatureFault } from '../../../solana/signature.ts';
import type { ProtobufReader } from '../protobuf.ts';
import type { CuckooFilterMessage } from '../subscribe-request.ts';
import type { RequestFaults } from './request-faults.ts';

/** Fields that filters have in common. The words are those of the SDK that the plugin parses with. */

/** Source: solana-address, `ParseAddressError`. */
const addressFaults: Readonly<Record<AddressFault, string>> = {
  WrongSize: 'String is the wrong size',
  Invalid: 'Invalid Base58 string',
};
/** Source: solana-signature, `ParseSignatureError`. */
const signatureFaults: Readonly<Record<SignatureFault, string>> = {
  WrongSize: 'string decoded to wrong size for signature',
  Invalid: 'failed to decode string to signature',
};

/**
 * Adds a repeated field's address to its list.
 * @param field - as geyser.proto calls it.
 * @returns the list, which is made for the first.
 */
export function addAddress(
  field: string,
  list: Address[] | undefined,
  reader: ProtobufReader,
  faults: RequestFaults,
): Address[] {
  faults.pubkey();
  const addresses = list ?? [];
  if (faults.some) {
    reader.span();
    return addresses;
  }
  const text = reader.string();
  const parsed = parseAddress(text);
  if ('fault' in parsed) faults.add(addressFaults[parsed.fault], field, text);
  else addresses.push(parsed.address);
  return addresses;
}

/** @returns undefined for a text that is none. */
export function readSignatureText(reader: ProtobufReader, faults: RequestFaults): Signature | undefined {
  if (faults.some) {
    reader.span();
    return undefined;
  }
  const text = reader.string();
  const parsed = parseSignature(text);
  if ('signature' in parsed) return parsed.signature;
  faults.add(signatureFaults[parsed.fault], 'signature', text);
  return undefined;
}

/** Reads `CuckooFilter`. Whether it is one that can be used is judged by who uses it. */
export function readCuckooFilter(reader: ProtobufReader): CuckooFilterMessage {
  let data: Uint8Array = new Uint8Array();
  let [bucketCount, entriesPerBucket, fingerprintBits, hashAlgorithm] = [0, 0, 0, 0];
  let hashSeed = 0n;
  while (reader.next()) {
    if (reader.field === 1) data = reader.bytes();
    else if (reader.field === 2) bucketCount = reader.uint32();
    else if (reader.field === 3) entriesPerBucket = reader.uint32();
    else if (reader.field === 4) fingerprintBits = reader.uint32();
    else if (reader.field === 5) hashSeed = reader.uint64();
    else if (reader.field === 6) hashAlgorithm = reader.int32();
    else reader.skipField();
  }
  return { data, bucketCount, entriesPerBucket, fingerprintBits, hashSeed, hashAlgorithm };
}
