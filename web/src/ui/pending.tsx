import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FormError } from './field.tsx';
import { Skeleton } from './skeleton.tsx';

export function Pending<Data>({
  query,
  height = 'l',
  children,
}: {
  query: UseQueryResult<Data, Error>;
  height?: 's' | 'm' | 'l';
  children: (data: Data) => ReactNode;
}) {
  const { data, error } = query;
  if (data === undefined)
    return error === null ? <Skeleton height={height} /> : <FormError problem={error} />;
  return (
    <>
      {error === null ? null : <FormError problem={error} />}
      {children(data)}
    </>
  );
}
