import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { BackupError, backupTables } from '../../src/control/database/backup/backup.ts';
import { readBackupFile } from '../../src/control/database/backup/backup-file.ts';
import { acceptedLater } from './engine/accepted.ts';
import { scratchFolder } from './engine/scratch.ts';

export const from = 'files that the operator restores';
export const covers = ['control/database/backup/backup-file.ts'];

const [table] = backupTables;
const lines = [
  '{"format":"solway-backup","version":1,"schema":7,"at":1700000000000}',
  `{"rows":"${table?.name}","columns":["a","b","c"],"values":[["x",5,null],["\\u2028",-1,null]]}`,
  `{"table":"${table?.name}","count":2,"digest":"${'0'.repeat(64)}"}`,
  '{"end":true}',
];
const text = Buffer.from(lines.join('\n'));

/** Lines to be packed; or, behind the byte 0xff, a file as it is. */
export const seeds: readonly Uint8Array[] = [
  text,
  ...lines.map((line) => Buffer.from(line)),
  Buffer.of(0xff, ...gzipSync(text)),
];

const file = join(scratchFolder('backup-file'), 'backup.gz');

/** The parts of a backup come, or the file is said to be damaged. @returns whether it was read to its end. */
export function fuzz(bytes: Uint8Array): Promise<boolean> {
  writeFileSync(file, bytes[0] === 0xff ? bytes.subarray(1) : gzipSync(bytes, { level: 0 }));
  return acceptedLater(async () => {
    for await (const part of readBackupFile(file)) {
      if (part.kind !== 'rows') continue;
      if (part.rows.some((row) => Object.values(row).some((value) => typeof value === 'object' && value)))
        throw new Error('a row holds what no column can');
    }
  }, BackupError);
}
