import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsFiles } from '../../src/app/servers/tls-files.ts';

export function makeCertificate(folder: string, name: string, more: readonly string[] = []): TlsFiles {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...more, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  return { cert, key, certField: 'server.tls.cert_file', keyField: 'server.tls.key_file' };
}

export const contentOf = ({ cert, key }: TlsFiles) => ({ cert: readFileSync(cert), key: readFileSync(key) });
