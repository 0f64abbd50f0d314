import { ApiError } from '../api-error.ts';
import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';

/** The configuration, read again while the service runs. */
export const reloadHandlers = ({ reload }: ApiServices): Handlers<'POST /reload'> => ({
  async 'POST /reload'(_given, { actor, address, userAgent, requestId }) {
    if (reload === undefined)
      throw new ApiError(503, 'NO_GATEWAY', 'no service runs here whose configuration could be read again');
    const { changed, restart } = await reload({ actor, address, userAgent, requestId });
    return { changed: [...changed], restart: [...restart] };
  },
});
