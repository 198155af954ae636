/* png_pixels.c - png_pixels FILE: the rows of a picture as numbers, red, green
 * and blue of each pixel; ends with 77 where there is no png library. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#ifdef HAVE_LIBPNG
#include <png.h>

static unsigned char *
read_picture(const char *path, png_image *image)
{
    unsigned char *data;

    if (!png_image_begin_read_from_file(image, path))
        return NULL;
    image->format = PNG_FORMAT_RGB;
    data = malloc(PNG_IMAGE_SIZE(*image));
    if (data && png_image_finish_read(image, NULL, data, 0, NULL))
        return data;
    free(data);
    return NULL;
}

int
main(int argc, char **argv)
{
    png_image image = { .version = PNG_IMAGE_VERSION };
    unsigned char *data = argc == 2 ? read_picture(argv[1], &image) : NULL;
    size_t n = (size_t)3 * image.width;

    for (size_t i = 0; data && i < n * image.height; i++)
        printf("%d%c", data[i], (i + 1) % n ? ' ' : '\n');
    free(data);
    return data == NULL;
}
#else
int
main(void)
{
    return 77;
}
#endif
