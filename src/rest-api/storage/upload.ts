import { z } from 'zod';
import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import { endpoint } from '../endpoint.ts';
import { ofStorage } from '../failures.ts';
import { storedSchema } from './stored-schema.ts';

/** Source: spec, "REST"; rest-api.md §2.21. */
export const upload = endpoint({
  verb: 'POST',
  paths: ['/sol/v1/storage/upload'],
  group: 'storage',
  name: 'storage/upload',
  summary: 'Store a file under its content identifier',
  description:
    'The file is the part `file` of a multipart/form-data body, with or without a file name. The same bytes have the ' +
    'same `cid`, whoever sends them: a CIDv1 of raw leaves of 1 MiB, up to 1,024 to a node. What its first sender ' +
    'called it, and its type, stay with it; a picture is of the type that its bytes show.',
  from: 'upload',
  failures: ofStorage,
  fields: z.object({}),
  result: storedSchema,
  async answer(_fields, { file, services, caller: { ownerId, signal } }) {
    if (file === null) {
      throw new InvalidFields([
        { field: 'file', message: 'is missing: send multipart/form-data with the file as this part' },
      ]);
    }
    const { name, type, bytes } = file;
    const { cid, uri } = await services.files.put(bytes, { name, type, ownerId }, signal);
    return { message: 'File uploaded successfully', result: { cid, uri } };
  },
});
