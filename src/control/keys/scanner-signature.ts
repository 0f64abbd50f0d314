import { createPublicKey, type KeyObject, verify } from 'node:crypto';

/** Header with the signature of a report, base64 of DER. */
export const SIGNATURE_HEADER = 'github-public-key-signature';
/** Header that names the key it was made with. */
export const SIGNATURE_KEY_HEADER = 'github-public-key-identifier';

/** A public key of a secret scanner, as the configuration gives it. */
export type ScannerKey = Readonly<{
  id: string;
  /** P-256, SPKI in PEM. */
  pem: string;
}>;

/** DER of two numbers of 32 bytes has 72 at most; base64 of that 96. */
const SIGNATURE_LENGTH_MAX = 128;

/** The key of a PEM text; null where it is none, or none of P-256. */
export function readScannerKey(pem: string): KeyObject | null {
  try {
    const key = createPublicKey({ key: pem, format: 'pem' });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null;
  } catch {
    return null;
  }
}

/**
 * Who may report leaked secrets: whoever signs the bytes of the report with ECDSA P-256 and SHA-256 under one of these
 * keys, as GitHub does. Source: GitHub's secret scanning partner program.
 */
export class ScannerSignatures {
  readonly #keys: ReadonlyMap<string, KeyObject>;

  /** @param keys - one that cannot be read signs nothing; the configuration refuses such. */
  constructor(keys: readonly ScannerKey[]) {
    const read = keys.map(({ id, pem }) => [id, readScannerKey(pem)] as const);
    this.#keys = new Map(read.filter((entry): entry is [string, KeyObject] => entry[1] !== null));
  }

  /** Whether the bytes were signed by a scanner that is known. */
  verify(body: Uint8Array | null, keyId: string | null, signature: string | null): boolean {
    const key = keyId === null ? undefined : this.#keys.get(keyId);
    if (key === undefined || body === null || signature === null) return false;
    if (signature.length > SIGNATURE_LENGTH_MAX) return false;
    try {
      return verify('sha256', body, key, Buffer.from(signature, 'base64'));
    } catch {
      return false;
    }
  }
}
