// import 'webnn/global': WebNN's interfaces as globals, and `navigator.ml`, as in a browser.
import * as webnn from './index.js';

const { ml, loadOnnx, extensions, ...interfaces } = webnn;
for (const [name, value] of Object.entries(interfaces))
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });

// Node before 21 has no navigator.
if (globalThis.navigator === undefined) {
  class Navigator {}
  const navigator = new Navigator();
  Object.defineProperty(Navigator.prototype, Symbol.toStringTag, {
    value: 'Navigator',
    configurable: true,
  });
  Object.defineProperty(globalThis, 'Navigator', {
    value: Navigator,
    writable: true,
    configurable: true,
  });
  Object.defineProperty(globalThis, 'navigator', {
    get: () => navigator,
    set: undefined,
    enumerable: true,
    configurable: true,
  });
}

const { navigator } = globalThis;
const mixin = {
  get ml() {
    if (this !== navigator) throw new TypeError('Navigator.ml: `this` is not the navigator');
    return ml;
  },
};
Object.defineProperty(
  Object.getPrototypeOf(navigator),
  'ml',
  Object.getOwnPropertyDescriptor(mixin, 'ml'),
);
