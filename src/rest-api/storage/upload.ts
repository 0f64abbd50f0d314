import { z } from 'zod';
import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import { endpoint, storageFailures } from '../endpoint.ts';

/** Source: rest-api.md §2.21, §2.22. */
export const storedSchema = z.object({
  cid: z.string().meta({ description: 'Content identifier of the file.' }),
  uri: z.string().meta({ description: 'URI of the stored file.' }),
});

/** Source: rest-api.md §2.21. */
export const upload = endpoint('POST storage/upload', {
  summary: 'Store a file under its content identifier',
  description:
    'The file is the part `file` of a multipart/form-data body, with or without a file name. The same bytes always ' +
    'give the same `cid`: a CIDv1 of raw leaves of 1 MiB, up to 1,024 per node. Name and type come from the first ' +
    'upload; the type of an image is detected from its bytes.',
  from: 'upload',
  failures: storageFailures,
  fields: z.object({}),
  result: storedSchema,
  async handle(_fields, { file, services, caller: { ownerId, signal } }) {
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
