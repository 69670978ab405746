import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileMetadata;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.hadoop.HadoopCatalog;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.apache.iceberg.types.Types;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Iceberg's own REST catalog over a local warehouse with two small tables, for who has a token of it.
 *
 * <p>{@code java -cp 'lib/*' RestCatalogServer.java FOLDER} writes the warehouse below FOLDER, what Java plans of each
 * table to FOLDER/plans.json, and, once the server answers, its uri to FOLDER/uri. It runs until it is killed.
 */
public class RestCatalogServer {
  private static final Schema SCHEMA =
      new Schema(
          Types.NestedField.required(1, "id", Types.LongType.get()),
          Types.NestedField.required(2, "region", Types.StringType.get()));

  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]).toAbsolutePath();
    HadoopCatalog catalog = new HadoopCatalog();
    catalog.setConf(new Configuration());
    catalog.initialize(
        "local", Map.of(CatalogProperties.WAREHOUSE_LOCATION, folder.resolve("warehouse").toString()));

    Map<String, String> plans = new TreeMap<>();
    for (String[] levels : new String[][] {{"db"}, {"lake", "deep er"}}) {
      Namespace namespace = Namespace.of(levels);
      catalog.createNamespace(namespace);
      Table table = createOrders(catalog, TableIdentifier.of(namespace, "orders"));
      plans.put(String.join(".", levels) + ".orders", planOf(table));
    }
    Files.writeString(folder.resolve("plans.json"), json(plans));

    ServletContextHandler context = new ServletContextHandler();
    context.addFilter(new FilterHolder(new NeedsToken()), "/*", EnumSet.of(DispatcherType.REQUEST));
    context.addServlet(
        new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
    Server server = new Server();
    ServerConnector connector = new ServerConnector(server);
    connector.setHost("127.0.0.1");
    server.addConnector(connector);
    server.setHandler(context);
    server.start();
    Path written = folder.resolve("uri.new");
    Files.writeString(written, "http://127.0.0.1:" + connector.getLocalPort());
    Files.move(written, folder.resolve("uri"));
    server.join();
  }

  /** Three appends and a delete of positions; the files that these name do not exist, planning does not open them. */
  private static Table createOrders(HadoopCatalog catalog, TableIdentifier name) {
    PartitionSpec spec = PartitionSpec.builderFor(SCHEMA).identity("region").build();
    Table table =
        catalog.buildTable(name, SCHEMA).withPartitionSpec(spec).withProperty("format-version", "2").create();
    for (int n = 0; n < 3; n++) {
      var append = table.newFastAppend();
      for (String region : List.of("emea", "apac")) append.appendFile(dataFile(table, region, n));
      append.commit();
    }
    DeleteFile delete =
        FileMetadata.deleteFileBuilder(spec)
            .ofPositionDeletes()
            .withPath(table.location() + "/data/region=emea/deletes.parquet")
            .withPartitionPath("region=emea")
            .withFileSizeInBytes(1000)
            .withRecordCount(1)
            .build();
    table.newRowDelta().addDeletes(delete).commit();
    return table;
  }

  private static DataFile dataFile(Table table, String region, int n) {
    return DataFiles.builder(table.spec())
        .withPath(table.location() + "/data/region=" + region + "/" + n + ".parquet")
        .withPartitionPath("region=" + region)
        .withFileSizeInBytes(1000 + n)
        .withRecordCount(10)
        .build();
  }

  /** The files of region emea and the deletes of each. */
  private static String planOf(Table table) throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (CloseableIterable<FileScanTask> tasks =
        table.newScan().filter(Expressions.equal("region", "emea")).planFiles()) {
      for (FileScanTask task : tasks) {
        List<String> deletes = new ArrayList<>();
        task.deletes().forEach(delete -> deletes.add(quote(delete.location())));
        files.put(task.file().location(), deletes.toString());
      }
    }
    return json(files);
  }

  private static String json(Map<String, String> jsonByKey) {
    List<String> members = new ArrayList<>();
    jsonByKey.forEach((key, value) -> members.add(quote(key) + ":" + value));
    return "{" + String.join(",", members) + "}";
  }

  /** Paths here have neither quotes nor backslashes. */
  private static String quote(String text) {
    return '"' + text + '"';
  }

  /** The catalog itself takes any request. */
  private static class NeedsToken implements Filter {
    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
        throws IOException, ServletException {
      HttpServletRequest http = (HttpServletRequest) request;
      String token = http.getHeader("Authorization");
      boolean mayPass =
          http.getRequestURI().equals("/v1/oauth/tokens")
              || "Bearer client-credentials-token:sub=iceplan".equals(token);
      if (mayPass) chain.doFilter(request, response);
      else ((HttpServletResponse) response).sendError(HttpServletResponse.SC_UNAUTHORIZED);
    }
  }
}
