import { generateKeyPairSync, sign } from 'node:crypto';
import { readScannerKey, ScannerSignatures } from '../../src/control/keys/leaked-keys.ts';

export const from = 'whoever reports leaked secrets, and the operator';
export const covers = ['control/keys/leaked-keys.ts'];

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const REPORT = Buffer.from('[{"token":"a","type":"solway_key"}]');
const signature = sign('sha256', REPORT, privateKey).toString('base64');
const scanners = new ScannerSignatures([{ id: 'k', pem }]);

export const seeds: readonly Uint8Array[] = [Buffer.from(signature), Buffer.from(pem), REPORT];

/** No other signature than the right one is believed, and no other bytes under it. @returns whether it is a key. */
export function fuzz(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('latin1');
  const isRight = Buffer.from(text, 'base64').equals(Buffer.from(signature, 'base64'));
  if (scanners.verify(REPORT, 'k', text) && !isRight) throw new Error('another signature is believed');
  if (scanners.verify(bytes, 'k', signature) !== REPORT.equals(bytes))
    throw new Error('another report is believed');
  return readScannerKey(text) !== null;
}
