import { useCall } from '../queries.ts';

export function ModeBanner() {
  const me = useCall('GET /me', {});
  if (me.data?.service.mode !== 'development') return null;
  return (
    <p className="banner" role="status">
      Development mode: requests are served by an embedded ledger, not a Solana network.
    </p>
  );
}
