package iceplan.peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.StaticTableOperations;
import org.apache.iceberg.Table;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.io.CloseableIterable;

/**
 * Plans a whole table once for every line on stdin: {@code PlanOnDemand [--cache] METADATA_JSON FILTER}.
 *
 * <p>All is as the library has it by default, its pool of planning threads too, but for {@code --cache}: that turns on
 * its cache of manifest bytes, with the library's limits.
 */
public class PlanOnDemand {
  private PlanOnDemand() {}

  public static void main(String[] args) throws IOException {
    boolean cache = args.length > 0 && args[0].equals("--cache");
    int first = cache ? 1 : 0;
    Table table = loadTable(args[first], cache);
    Expression filter = parseFilter(args[first + 1]);
    System.out.println("ready");
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
    for (String line = orders.readLine(); line != null; line = orders.readLine()) {
      if (!line.equals("plan")) {
        throw new IllegalArgumentException("Cannot follow the order: " + line);
      }
      System.out.println(planOnce(table, filter));
    }
  }

  private static Table loadTable(String metadataLocation, boolean cache) {
    HadoopFileIO io = new HadoopFileIO(new Configuration());
    io.initialize(Map.of(CatalogProperties.IO_MANIFEST_CACHE_ENABLED, Boolean.toString(cache)));
    StaticTableOperations operations = new StaticTableOperations(metadataLocation, io);
    operations.current();
    return new BaseTable(operations, metadataLocation);
  }

  /** {@code none}, {@code days:FROM..UNTIL} or {@code ids:N}. */
  private static Expression parseFilter(String text) {
    if (text.equals("none")) {
      return Expressions.alwaysTrue();
    }
    String value = text.substring(text.indexOf(':') + 1);
    if (text.startsWith("ids:")) {
      return Expressions.lessThan("id", Long.parseLong(value));
    }
    if (text.startsWith("days:")) {
      String[] ends = value.split("\\.\\.");
      return Expressions.and(
          Expressions.greaterThanOrEqual("ts", ends[0]), Expressions.lessThan("ts", ends[1]));
    }
    throw new IllegalArgumentException("Cannot understand the filter: " + text);
  }

  private static String planOnce(Table table, Expression filter) throws IOException {
    long start = System.nanoTime();
    long firstTask = 0;
    long tasks = 0;
    long deletes = 0;
    long records = 0;
    long pathLengths = 0;
    try (CloseableIterable<FileScanTask> plan = table.newScan().filter(filter).planFiles()) {
      for (FileScanTask task : plan) {
        if (tasks == 0) {
          firstTask = System.nanoTime();
        }
        tasks += 1;
        deletes += task.deletes().size();
        records += task.file().recordCount();
        pathLengths += task.file().location().length();
      }
    }
    long end = System.nanoTime();
    if (tasks > 0 && pathLengths == 0) {
      throw new IllegalStateException("Cannot believe a plan whose files have no paths");
    }
    return String.format(
        Locale.ROOT,
        "{\"ms\": %.3f, \"tasks\": %d, \"deletes\": %d, \"records\": %d, \"firstTaskMs\": %s, \"rssMiB\": %s}",
        (end - start) / 1e6,
        tasks,
        deletes,
        records,
        tasks == 0 ? "null" : String.format(Locale.ROOT, "%.3f", (firstTask - start) / 1e6),
        residentMiB());
  }

  /** Of this process; {@code null} as JSON has it where there is no /proc. */
  private static String residentMiB() throws IOException {
    Path status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return "null";
    }
    return Files.readAllLines(status).stream()
        .filter(line -> line.startsWith("VmRSS:"))
        .map(line -> Long.toString(Long.parseLong(line.replaceAll("\\D", "")) / 1024))
        .findFirst()
        .orElse("null");
  }
}
