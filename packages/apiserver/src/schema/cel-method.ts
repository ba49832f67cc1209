// Methods of CEL as functions of the value that they are called on.
import { type CelFunc, type CelInput, type CelType, type CelValue, celMethod } from '@bufbuild/cel';

type Values<P extends readonly CelType[]> = Parameters<Parameters<typeof celMethod<CelType, P, CelType>>[4]>;

/** Makes a method whose implementation takes the value that it is called on as its first argument. */
export function methodOf<const T extends CelType, const P extends readonly CelType[], const R extends CelType>(
  target: T,
  name: string,
  parameters: P,
  result: R,
  run: (self: CelValue<T>, ...given: Values<P>) => CelInput<R>,
): CelFunc {
  return celMethod(name, target, parameters, result, function (...given) {
    return run(this, ...given);
  });
}
