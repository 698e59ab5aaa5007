package evenhand.store;

import evenhand.cycle.Store;
import evenhand.simulator.MemoryStore;

class MemoryStoreTest extends StoreContract {
  @Override
  Store make() {
    return new MemoryStore();
  }
}
